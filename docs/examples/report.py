"""What each open order is worth, by status, and which are ready but not collected: `report.py [ADDRESS]`."""

from __future__ import annotations

import decimal
import sys
from collections import defaultdict

from repairminder import Order, OrderStatus, RepairminderClient

OPEN = (OrderStatus.BOOKED_IN, OrderStatus.IN_PROGRESS, OrderStatus.AWAITING_PARTS, OrderStatus.READY)


def main() -> None:
    client = RepairminderClient(sys.argv[1] if len(sys.argv) > 1 else None)
    fields = Order.fields
    orders = client.orders.list(
        fields.status.is_one_of(*OPEN), sort=[fields.created_at], include=[Order.relations.client]
    )
    count: defaultdict[OrderStatus, int] = defaultdict(int)
    total: defaultdict[OrderStatus, decimal.Decimal] = defaultdict(decimal.Decimal)
    ready = []
    for order in orders:
        status = order.status or OrderStatus("unknown")
        count[status] += 1
        total[status] += order.total or 0
        if status == OrderStatus.READY:
            ready.append(order)

    for status in sorted(count):
        print(f"{status:<16}{count[status]:>5}{total[status]:>12}")
    print(f"{'in all':<16}{sum(count.values()):>5}{sum(total.values()):>12}")

    print("\nready, the oldest first:")
    for order in ready[:10]:
        who = order.client
        name = f"{who.first_name} {who.last_name}" if who else order.client_name or ""
        print(f"#{order.order_number:<7}{name:<24}{order.total or 0:>10}")


if __name__ == "__main__":
    main()
