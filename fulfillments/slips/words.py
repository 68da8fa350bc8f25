"""The printed words of slips, by language."""

from __future__ import annotations

from typing import NamedTuple


class SlipWords(NamedTuple):
    """The words of a slip in one language."""

    packing_slip: str
    ship_to: str
    returns_to: str
    shipped_by: str
    order: str
    sales_order: str
    ordered_on: str
    fulfillment: str
    shipping: str
    parcel: str
    sku: str
    item: str
    quantity: str
    amount: str
    total: str
    gift_message: str
    page: str


WORDS = {
    "en": SlipWords(
        "Packing slip",
        "Ship to",
        "Returns to",
        "Shipped by",
        "Order",
        "Sales order",
        "Ordered on",
        "Fulfillment",
        "Shipping",
        "Parcel",
        "SKU",
        "Item",
        "Qty",
        "Amount",
        "Total",
        "Gift message",
        "page {n} of {m}",
    ),
    "de": SlipWords(
        "Lieferschein",
        "Lieferadresse",
        "Rücksendungen an",
        "Versendet von",
        "Bestellung",
        "Auftrag",
        "Bestellt am",
        "Lieferung",
        "Versandart",
        "Paket",
        "Artikelnr.",
        "Artikel",
        "Menge",
        "Betrag",
        "Summe",
        "Grußbotschaft",
        "Seite {n} von {m}",
    ),
    "fr": SlipWords(
        "Bon de livraison",
        "Livré à",
        "Retours à",
        "Expédié par",
        "Commande",
        "Commande client",
        "Commandé le",
        "Livraison",
        "Mode d’envoi",
        "Colis",
        "Référence",
        "Article",
        "Qté",
        "Montant",
        "Total",
        "Message cadeau",
        "page {n} sur {m}",
    ),
    "es": SlipWords(
        "Albarán",
        "Enviar a",
        "Devoluciones a",
        "Enviado por",
        "Pedido",
        "Pedido de venta",
        "Fecha del pedido",
        "Entrega",
        "Forma de envío",
        "Paquete",
        "SKU",
        "Artículo",
        "Cant.",
        "Importe",
        "Total",
        "Mensaje de regalo",
        "página {n} de {m}",
    ),
    "it": SlipWords(
        "Documento di trasporto",
        "Spedire a",
        "Resi a",
        "Spedito da",
        "Ordine",
        "Ordine di vendita",
        "Ordinato il",
        "Consegna",
        "Spedizione",
        "Collo",
        "SKU",
        "Articolo",
        "Q.tà",
        "Importo",
        "Totale",
        "Messaggio regalo",
        "pagina {n} di {m}",
    ),
    "nl": SlipWords(
        "Pakbon",
        "Verzenden naar",
        "Retouren naar",
        "Verzonden door",
        "Bestelling",
        "Verkooporder",
        "Besteld op",
        "Levering",
        "Verzendwijze",
        "Pakket",
        "Artikelnr.",
        "Artikel",
        "Aantal",
        "Bedrag",
        "Totaal",
        "Cadeauboodschap",
        "pagina {n} van {m}",
    ),
    "pl": SlipWords(
        "Dokument dostawy",
        "Adres dostawy",
        "Zwroty na adres",
        "Nadawca",
        "Zamówienie",
        "Zamówienie sprzedaży",
        "Data zamówienia",
        "Dostawa",
        "Sposób wysyłki",
        "Paczka",
        "SKU",
        "Towar",
        "Ilość",
        "Kwota",
        "Razem",
        "Dedykacja",
        "strona {n} z {m}",
    ),
}
