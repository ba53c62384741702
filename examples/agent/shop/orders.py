"""Orders of the shop."""

from prices import total


def invoice(prices):
    """Return the last line of an invoice.

    >>> invoice([1000, 510])
    'Total: 20.00 EUR'
    """
    return f"Total: {total(prices) / 100:.2f} EUR"
