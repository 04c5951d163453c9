/// Reads Server-Sent Events (WHATWG HTML, 9.2) from the body of an answer.
struct EventReader: Sendable {
    /// An event, or an id alone after changes that a filter left out.
    struct Event: Sendable, Equatable {
        var id: String?
        var data = ""
    }

    /// An event of the daemon is a line of JSON without a value of more than 1 MiB.
    private static let longestLine = 16 << 20

    private var pieces: ResponseBody.AsyncIterator
    private var rest: ArraySlice<UInt8> = []

    init(_ body: ResponseBody) { pieces = body.makeAsyncIterator() }

    /// The next event with data or an id; nil when the stream has ended.
    mutating func next() async throws(ClientError) -> Event? {
        var event = Event()
        while let line = try await line() {
            if line.isEmpty {
                if event != Event() { return event }
                continue
            }
            let (name, value) = Self.field(line)
            switch name {
            case "id": event.id = value
            case "data": event.data += (event.data.isEmpty ? "" : "\n") + value
            default: break
            }
        }
        // An event without its empty line is not complete: it comes again.
        return nil
    }

    private static func field(_ line: String) -> (name: Substring, value: String) {
        guard let colon = line.firstIndex(of: ":") else { return (line[...], "") }
        var value = line[line.index(after: colon)...]
        if value.first == " " { value.removeFirst() }
        return (line[..<colon], String(value))
    }

    /// The next line without its end; nil when the stream has ended.
    private mutating func line() async throws(ClientError) -> String? {
        var searched = 0
        while true {
            if let end = rest.dropFirst(searched).firstIndex(of: 0x0A) {
                var line = rest[..<end]
                rest = rest[(end + 1)...]
                if line.last == 0x0D { line.removeLast() }
                return String(decoding: line, as: UTF8.self)
            }
            searched = rest.count
            guard searched <= Self.longestLine else { throw .unexpected("an event has a line of more than 16 MiB") }
            guard let piece = try await pieces.next(isolation: nil) else { return nil }
            rest = rest + piece
        }
    }
}
