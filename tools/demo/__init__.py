"""The demo: its cast (parties, stock, keys), and one order through the public interface (`make demo`)."""
