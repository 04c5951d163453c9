package import EntitySchema
package import JSONText

/// Generates the records of a small repair shop for the `repairminder` schema: the same bytes for the same seed and
/// size.
///
/// References point to existing records, and every count and sum matches its records. Times are in the two years before
/// `reference`, never after it.
package struct ShopGenerator: Sendable {
    /// The only schema of these records.
    package static let schema = "repairminder"
    /// The shop's present, fixed so that a seed gives the same bytes on any day.
    package static let reference = Timestamp(milliseconds: 1_782_842_400_000)  // 2026-06-30T18:00:00Z

    private static let minute: Int64 = 60_000
    private static let day: Int64 = 86_400_000

    private let orders: Int
    private let seed: UInt64

    /// For 500 orders: 200 clients, 700 devices, 150 tickets, 400 messages; others in proportion.
    package init(orders: Int = 500, seed: UInt64 = 1) {
        self.orders = max(1, orders)
        self.seed = seed
    }

    /// By entity, each list in the order of creation.
    package func records() -> [String: [JSONText]] {
        var random = SplitMix64(seed: seed)
        var shop = Shop()
        shop.clients = (0..<share(2, of: 5)).map { client($0, &random) }
        shop.orders = times(orders, &random).enumerated().map { order($0, created: $1, shop, &random) }
        addDevices(to: &shop, &random)
        sumUp(&shop)
        shop.tickets = times(share(3, of: 10), &random).enumerated().map { ticket($0, created: $1, shop, &random) }
        addMessages(to: &shop, &random)
        shop.clients.sort { ($0.created, $0.number) < ($1.created, $1.number) }
        return [
            "clients": shop.clients.map(\.json), "orders": shop.orders.map(\.json),
            "devices": shop.devices.map(\.json), "tickets": shop.tickets.map(\.json),
            "ticket_messages": shop.messages.map(\.json),
        ]
    }

    private func share(_ part: Int, of whole: Int) -> Int { max(1, orders * part / whole) }

    /// In opening hours, oldest first, so that numbers rise with time.
    private func times(_ count: Int, _ random: inout SplitMix64) -> [Int64] {
        let firstDay = Self.reference.milliseconds / Self.day - 730
        let times = (0..<count).map { _ in
            (firstDay + Int64(random.below(729))) * Self.day + 9 * 60 * Self.minute + Int64(random.below(32_400_000))
        }
        return times.sorted()
    }

    /// Some time after `time`, at most `days` later, and never after the reference.
    private func later(than time: Int64, days: Int, _ random: inout SplitMix64) -> Int64 {
        min(time + Int64(random.below(days * Int(Self.day))) + 1, Self.reference.milliseconds)
    }

    // MARK: Clients and orders

    private func client(_ number: Int, _ random: inout SplitMix64) -> Shop.Client {
        let city = random.pick(ShopWords.cities)
        let created = times(1, &random)[0]
        return Shop.Client(
            id: "cli_\(random.hex(18))", number: number, firstName: random.pick(ShopWords.firstNames),
            lastName: random.pick(ShopWords.lastNames),
            phone: random.chance(0.9) ? "+44 7700 9\(String(10_000 + random.below(90_000)))" : nil,
            company: random.chance(0.1) ? random.pick(ShopWords.companies) : nil,
            address: "\(1 + random.below(180)) \(random.pick(ShopWords.streets))", city: city.name,
            postcode: "\(city.area)\(1 + random.below(19)) \(1 + random.below(9))AB",
            notes: random.chance(0.15) ? random.pick(ShopWords.notes) : nil, created: created, updated: created)
    }

    private func order(_ index: Int, created: Int64, _ shop: Shop, _ random: inout SplitMix64) -> Shop.Order {
        let updated = later(than: created, days: 21, &random)
        let age = Self.reference.milliseconds - created
        // Some old orders stay open: a part that is unavailable, a customer who does not call.
        let isOpen = age < 30 * Self.day || random.chance(0.1)
        let status = random.pick(isOpen ? ShopWords.openStatuses : ShopWords.closedStatuses)
        return Shop.Order(
            id: "ord_\(random.hex(18))", number: 1000 + index, status: status,
            notes: random.chance(0.3) ? random.pick(ShopWords.notes) : nil,
            client: random.below(shop.clients.count), location: random.pick(ShopWords.locations),
            assigned: random.chance(0.8) ? random.pick(ShopWords.staff) : nil,
            paysDeposit: random.chance(0.3), clientRecord: shop.clients[0], created: created, updated: updated)
    }

    // MARK: Devices

    /// One for each order, and the rest at random.
    private func addDevices(to shop: inout Shop, _ random: inout SplitMix64) {
        var owners = Array(shop.orders.indices)
        while owners.count < share(7, of: 5) { owners.append(random.below(shop.orders.count)) }
        owners.sort()
        shop.devices = owners.map { owner in
            let device = device(of: shop.orders[owner], &random)
            shop.orders[owner].devices += 1
            shop.orders[owner].total += device.price
            return device
        }
    }

    private func device(of order: Shop.Order, _ random: inout SplitMix64) -> Shop.Device {
        let job = random.pick(ShopWords.jobs)
        let model = random.pick(ShopWords.models)
        let status = deviceStatus(order.status, &random)
        let isDiagnosed = !["booked_in", "diagnosing"].contains(status)
        let isRepaired = ["repaired", "quality_check", "ready", "collected"].contains(status)
        return Shop.Device(
            id: "dev_\(random.hex(18))", order: order.id, model: model,
            serial: random.chance(0.9) ? random.hex(10).uppercased() : nil,
            imei: model.type == "Phone" ? "35\(String(random.below(9_000_000_000_000) + 1_000_000_000_000))" : nil,
            passcode: random.chance(0.6) ? String(String(1_000_000 + random.below(1_000_000)).dropFirst()) : nil,
            status: status, issue: job.issue, diagnosis: isDiagnosed ? job.diagnosis : nil,
            resolution: isRepaired ? job.resolution : nil,
            price: job.price.lowerBound + random.below(job.price.count), assigned: order.assigned,
            created: order.created, updated: order.created + Int64(random.below(Int(order.updated - order.created) + 1))
        )
    }

    private func deviceStatus(_ order: String, _ random: inout SplitMix64) -> String {
        switch order {
        case "booked_in": "booked_in"
        case "in_progress":
            random.pick(["diagnosing", "awaiting_approval", "approved", "in_repair", "repaired", "quality_check"])
        case "awaiting_parts": "awaiting_parts"
        case "ready": "ready"
        case "cancelled": "unrepairable"
        default: "collected"
        }
    }

    /// Settles the orders and sets each client's count and sum of orders.
    private func sumUp(_ shop: inout Shop) {
        for index in shop.orders.indices {
            var order = shop.orders[index]
            let isSettled = order.status == "collected" || order.status == "cancelled"
            if order.status == "cancelled" { order.total = 0 }
            order.deposit = order.paysDeposit ? order.total / 5 : 0
            order.balance = isSettled ? 0 : order.total - order.deposit
            let owner = order.client
            shop.clients[owner].orders += 1
            shop.clients[owner].spent += order.total - order.balance
            // Clients are created at the counter, just before their first order.
            shop.clients[owner].created = min(shop.clients[owner].created, order.created - Self.minute)
            shop.clients[owner].updated = max(shop.clients[owner].updated, order.updated)
            shop.orders[index] = order
        }
        for index in shop.orders.indices { shop.orders[index].clientRecord = shop.clients[shop.orders[index].client] }
    }

    // MARK: Tickets

    private func ticket(_ index: Int, created: Int64, _ shop: Shop, _ random: inout SplitMix64) -> Shop.Ticket {
        // A question is about an order that existed when it was asked.
        let earlier = shop.ordersUntil(created)
        let order = earlier > 0 && random.chance(0.7) ? shop.orders[random.below(earlier)] : nil
        let isOld = Self.reference.milliseconds - created > 14 * Self.day
        return Shop.Ticket(
            id: "tkt_\(random.hex(18))", number: 1 + index, subject: random.pick(ShopWords.subjects),
            status: isOld ? "closed" : random.pick(["open", "open", "pending"]),
            priority: random.pick(["low", "normal", "normal", "high"]),
            client: order?.clientRecord ?? random.pick(shop.clients), order: order,
            assigned: random.chance(0.7) ? random.pick(ShopWords.staff) : nil, created: created, updated: created,
            lastMessage: created)
    }

    /// One for each ticket, and the rest at random; the first is the client's question.
    private func addMessages(to shop: inout Shop, _ random: inout SplitMix64) {
        var owners = Array(shop.tickets.indices)
        while owners.count < share(4, of: 5) { owners.append(random.below(shop.tickets.count)) }
        owners.sort()
        shop.messages = owners.map { owner in
            var ticket = shop.tickets[owner]
            let isFirst = ticket.messages == 0
            let time = isFirst ? ticket.created : later(than: ticket.lastMessage, days: 2, &random)
            ticket.messages += 1
            ticket.lastMessage = time
            ticket.updated = max(ticket.updated, time)
            shop.tickets[owner] = ticket
            return message(in: ticket, isFirst: isFirst, time, &random)
        }
        for index in shop.tickets.indices where shop.tickets[index].status == "closed" {
            shop.tickets[index].updated = later(than: shop.tickets[index].updated, days: 3, &random)
        }
    }

    private func message(
        in ticket: Shop.Ticket, isFirst: Bool, _ time: Int64, _ random: inout SplitMix64
    ) -> Shop.Message {
        let isClient = isFirst || random.chance(0.4)
        let author = ticket.assigned ?? ShopWords.staff[0]
        let isInternal = !isClient && random.chance(0.2)
        let words = isClient ? ShopWords.questions : isInternal ? ShopWords.remarks : ShopWords.replies
        return Shop.Message(
            id: "msg_\(random.hex(18))", ticket: ticket.id, content: random.pick(words), isClient: isClient,
            senderName: isClient ? ticket.client.name : author.name, senderID: isClient ? ticket.client.id : author.id,
            isInternal: isInternal, created: time)
    }
}
