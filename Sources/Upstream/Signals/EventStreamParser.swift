/// Reads an event stream piece by piece, as the WHATWG HTML standard's "Server-sent events" describes it.
///
/// Bounded: an event larger than `largest` arrives without its data. What is left at the end of the stream is no event.
struct EventStreamParser {
    struct Event: Equatable {
        /// `message` if the stream gives none.
        var name: String
        /// Nil if it is too large.
        var data: String?
        /// The last id that the stream gave, in this event or before.
        var id: String
    }

    /// For one line, and for the data of one event, in bytes.
    private let largest: Int
    /// Longer ids are not kept, nor those with control characters: each reconnection sends the last one in a header.
    private static let longestID = 1000
    /// No field that means something has a longer name, in bytes.
    private static let longestField = 5
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// How long to wait before reconnecting, if the stream says so.
    private(set) var retry: Duration?
    private var line: [UInt8] = []
    private var isFirstLine = true
    private var isLineCut = false
    private var endedWithCR = false
    private var name = ""
    private var data: [UInt8] = []
    private var isDataCut = false
    private var id = ""

    init(largest: Int = 1 << 20) {
        self.largest = largest
    }

    /// Calls `dispatch` with each event that the bytes complete.
    mutating func take(_ bytes: some Sequence<UInt8>, _ dispatch: (Event) -> Void) {
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "\n") where endedWithCR: endedWithCR = false
            case UInt8(ascii: "\n"): endLine(dispatch)
            case UInt8(ascii: "\r"):
                endedWithCR = true
                endLine(dispatch)
            default:
                endedWithCR = false
                if line.count < largest { line.append(byte) } else { isLineCut = true }
            }
        }
    }

    private mutating func endLine(_ dispatch: (Event) -> Void) {
        if isFirstLine, line.starts(with: Self.byteOrderMark) { line.removeFirst(Self.byteOrderMark.count) }
        isFirstLine = false
        if line.isEmpty { end(dispatch) } else if line[0] != UInt8(ascii: ":") { takeField() }
        line.removeAll(keepingCapacity: line.count < 64 << 10)
        isLineCut = false
    }

    private mutating func takeField() {
        let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
        var value = line[colon...].dropFirst()
        if value.first == UInt8(ascii: " ") { value.removeFirst() }
        // Not all of it: a long text can take long to compare (`MarkRun`).
        switch String(decoding: line[..<colon].prefix(Self.longestField + 1), as: UTF8.self) {
        case "event": name = String(decoding: value, as: UTF8.self)
        case "data":
            guard !isLineCut, data.count + value.count < largest else { return isDataCut = true }
            data += value
            data.append(UInt8(ascii: "\n"))
        case "id" where !isLineCut && value.count <= Self.longestID && !value.contains(where: Self.isControl):
            id = String(decoding: value, as: UTF8.self)
        case "retry" where !value.isEmpty && value.count < 10 && value.allSatisfy { (0x30...0x39).contains($0) }:
            retry = Int64(String(decoding: value, as: UTF8.self)).map { .milliseconds($0) }
        default: break
        }
    }

    private static func isControl(_ byte: UInt8) -> Bool { byte < 0x20 || byte == 0x7F }

    private mutating func end(_ dispatch: (Event) -> Void) {
        defer {
            name = ""
            data.removeAll(keepingCapacity: data.count < 64 << 10)
            isDataCut = false
        }
        guard !data.isEmpty || isDataCut else { return }
        dispatch(
            Event(
                name: name.isEmpty ? "message" : name,
                data: isDataCut ? nil : String(decoding: data.dropLast(), as: UTF8.self), id: id))
    }
}
