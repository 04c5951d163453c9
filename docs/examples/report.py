"""What each open order is worth, by status, and which are ready but not collected: `report.py [ADDRESS]`."""

from __future__ import annotations

import decimal
import sys

from repairminder import Order, OrderStatus, RepairminderClient

OPEN = (OrderStatus.BOOKED_IN, OrderStatus.IN_PROGRESS, OrderStatus.AWAITING_PARTS, OrderStatus.READY)


def row(name: str, orders: list[Order]) -> None:
    total = sum((order.total or 0 for order in orders), decimal.Decimal())
    print(f"{name:<16}{len(orders):>5}{total:>12}")


def main() -> None:
    client = RepairminderClient(sys.argv[1] if len(sys.argv) > 1 else None)
    fields = Order.fields
    orders = list(
        client.orders.list(
            fields.status.is_one_of(*OPEN), sort=[fields.created_at], include=[Order.relations.client]
        )
    )
    for status in OPEN:
        row(status, [order for order in orders if order.status == status])
    row("in all", orders)

    print("\nready, the oldest first:")
    for order in [order for order in orders if order.status == OrderStatus.READY][:10]:
        who = order.client
        name = f"{who.first_name} {who.last_name}" if who else order.client_name or ""
        # A terminal would obey control characters.
        name = "".join(one if one.isprintable() else "?" for one in name)
        print(f"#{order.order_number:<7}{name:<24}{order.total or 0:>10}")


if __name__ == "__main__":
    main()
