import RepairminderClient

/// A ticket screen in a terminal, with replies (`150 Ready on Tuesday.`); `RepairMinder.generated.swift` has its types.
@main
enum TicketScreen {
    static func main() async throws {
        let address = CommandLine.arguments.dropFirst().first.flatMap { DaemonAddress($0) } ?? .packaged
        let client = RepairminderClient(address)
        let start = try await client.changes.position()
        try await list(client)
        Task {
            let news = ChangeFilter(entities: [Ticket.entity], kinds: [.upserted, .acknowledged])
            for try await _ in client.changes.follow(from: start, filter: news) { try await list(client) }
        }
        while let line = readLine() { print(await reply(line, client)) }
    }

    static func list(_ client: RepairminderClient) async throws(ClientError) {
        let open = TypedQuery<Ticket>.where { $0.status.isOneOf(.open, .pending) }
            .sorted(by: \.lastMessageAt, .descending).labelled().limited(to: 20)
        for ticket in try await client.tickets.page(open).items {
            let state = [ticket.record.label("status"), ticket.record.sync?.state.rawValue].map { $0 ?? "" }
            let words = ["\(ticket.ticketNumber ?? 0)", ticket.clientName ?? "", ticket.subject ?? ""] + state
            let row = words.joined(separator: " | ").unicodeScalars.filter { $0.properties.generalCategory != .control }
            print(String(row))  // a terminal would obey control characters
        }
    }

    static func reply(_ line: String, _ client: RepairminderClient) async -> String {
        let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
        guard parts.count == 2, let number = Int(parts[0]) else { return "write a number and a reply" }
        do throws(ClientError) {
            let found = try await client.tickets.first(.where { $0.ticketNumber == number })
            guard let ticket = found else { return "there is no ticket \(number)" }
            let message = TicketMessage.New(ticketID: ticket.id, content: parts[1])
            let sent = try await client.ticketMessages.create(message, WriteOptions(wait: .seconds(10)))
            return sent.push.map { "saved; \($0.state)" } ?? "sent"
        } catch { return "not sent: \(error)" }
    }
}
