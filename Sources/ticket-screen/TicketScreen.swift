import RepairminderClient

/// A ticket screen in the terminal: the open tickets, what happens to them, and replies (`150 Ready on Tuesday.`).
///
/// Its types are those of `RepairMinder.generated.swift`.
@main
enum TicketScreen {
    static func main() async throws {
        let address = CommandLine.arguments.dropFirst().first.flatMap { DaemonAddress($0) } ?? .packaged
        let client = RepairminderClient(address)
        let start = try await client.changes.position()
        try await list(client)
        let watching = Task { try await watch(client, from: start) }
        while let line = readLine() { await reply(line, client) }
        watching.cancel()
    }

    static func list(_ client: RepairminderClient) async throws(ClientError) {
        let open = TypedQuery<Ticket>.where { $0.status.isOneOf(.open, .pending) }
            .sorted(by: \.lastMessageAt, .descending).labelled().limited(to: 20)
        for ticket in try await client.tickets.page(open).items { show(ticket) }
    }

    static func show(_ ticket: Ticket) {
        let columns = [
            ticket.ticketNumber.map(String.init), ticket.clientName, ticket.subject, ticket.record.label("status"),
            ticket.record.sync?.state.rawValue,
        ]
        print(columns.map { $0 ?? "" }.joined(separator: " | "))
    }

    static func watch(_ client: RepairminderClient, from start: ChangePosition) async throws(ClientError) {
        let filter = ChangeFilter(entities: [Ticket.entity, TicketMessage.entity])
        for try await event in client.changes.follow(from: start, filter: filter) {
            guard let change = event.change else {
                try await list(client)
                continue
            }
            print("\(change.entity) \(change.recordID): \(change.kind)")
        }
    }

    static func reply(_ line: String, _ client: RepairminderClient) async {
        let parts = line.split(separator: " ", maxSplits: 1).map(String.init)
        guard parts.count == 2, let number = Int(parts[0]) else { return print("write a number and a reply") }
        do throws(ClientError) {
            guard let ticket = try await client.tickets.first(.where { $0.ticketNumber == number }) else {
                return print("no such ticket")
            }
            let message = TicketMessage.New(ticketID: ticket.id, content: parts[1])
            let sent = try await client.ticketMessages.create(message, WriteOptions(wait: .seconds(10)))
            print(sent.push.map { "saved; \($0.state)" } ?? "sent")
        } catch {
            print("not sent: \(error)")
        }
    }
}
