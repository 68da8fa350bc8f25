"""The portal: the pages for members of suppliers and retailers (contract 20)."""
