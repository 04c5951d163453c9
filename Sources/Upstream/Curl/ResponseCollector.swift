internal import JSONText

/// Collects one response from libcurl within limits: header lines first, then decoded bytes.
///
/// Each `take` returns false to refuse; `refusal` then says why, and the exchange is over.
struct ResponseCollector {
    /// For all header lines, including interim responses and trailers; some servers send 16 kB of cookies and policies.
    static let maximumHeaderBytes = 64 << 10

    private(set) var headers: [HTTPHeader] = []
    private(set) var body: [UInt8] = []
    private(set) var refusal: String?

    /// Whether all headers have come.
    var hasHead: Bool { section == .trailers }

    /// The refusal of a body that is too large, also for one that libcurl ends because of its Content-Length.
    var oversized: String { "its body is larger than the \(maximumBody) bytes allowed" }

    private let maximumBody: Int
    private var headerBytes = 0
    private var section = Section.statusLine

    private enum Section { case statusLine, interim, headers, trailers }

    init(maximumBody: Int) {
        self.maximumBody = max(0, maximumBody)
    }

    /// One line of a header section with its line end: the status line, a field, a continuation of a folded field, or
    /// the end.
    mutating func takeHeaderLine(_ line: UnsafeRawBufferPointer) -> Bool {
        headerBytes += line.count
        guard headerBytes <= Self.maximumHeaderBytes else {
            return refuse("its headers are larger than \(Self.maximumHeaderBytes) bytes")
        }
        let text = trimLineEnd(line)
        switch section {
        case .statusLine:
            guard let status = status(in: text) else { return refuse("its status line is none of HTTP (RFC 9112, 4)") }
            // 101 ends what there is of HTTP.
            section = (100..<200).contains(status) && status != 101 ? .interim : .headers
            return true
        case .interim:
            if text.isEmpty { section = .statusLine }
            return true
        case .headers:
            if text.isEmpty { section = .trailers }
            return text.isEmpty || takeField(text)
        case .trailers:
            // RFC 9110, 6.5.1: trailers must not be merged into headers unless their definition allows it.
            return true
        }
    }

    /// The next decoded bytes. `announced` is the response's Content-Length, so the buffer need not grow in steps.
    mutating func takeBody(_ bytes: UnsafeRawBufferPointer, announced: @autoclosure () -> Int?) -> Bool {
        guard bytes.count <= maximumBody - body.count else {
            return refuse(oversized)
        }
        let needed = body.count + bytes.count
        if body.capacity < needed {
            // An array doubles its capacity, which could exceed the limit; grow it here, up to the limit.
            let wanted = body.isEmpty ? announced() ?? needed : 2 * body.capacity
            body.reserveCapacity(min(max(wanted, needed), maximumBody))
        }
        body.append(contentsOf: bytes)
        return true
    }

    private mutating func takeField(_ line: Slice<UnsafeRawBufferPointer>) -> Bool {
        if let first = line.first, HTTPSyntax.isBlank(first), let last = headers.indices.last {
            headers[last].value += " " + text(line)
            return true
        }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else {
            return refuse("one of its header lines has no colon")
        }
        headers.append(HTTPHeader(text(line[..<colon]), text(line[colon...].dropFirst())))
        return true
    }

    private mutating func refuse(_ reason: String) -> Bool {
        refusal = reason
        return false
    }

    /// Nil for a line that programs read differently. libcurl takes two spaces before the status: what it knew for an interim
    /// response would be the last one here, and the head of the last one would be trailers.
    private func status(in line: Slice<UnsafeRawBufferPointer>) -> Int? {
        guard line.starts(with: "HTTP/".utf8) else { return nil }
        let rest = line.drop { $0 != UInt8(ascii: " ") }.dropFirst()
        let digits = rest.prefix(3)
        guard digits.count == 3, digits.allSatisfy({ $0 &- 0x30 < 10 }),
            rest.dropFirst(3).first.map(HTTPSyntax.isBlank) ?? true
        else { return nil }
        return digits.reduce(0) { 10 * $0 + Int($1 - 0x30) }
    }

    private func trimLineEnd(_ line: UnsafeRawBufferPointer) -> Slice<UnsafeRawBufferPointer> {
        var line = line[...]
        if line.last == UInt8(ascii: "\n") { line.removeLast() }
        if line.last == UInt8(ascii: "\r") { line.removeLast() }
        return line
    }

    private func text(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
        var bytes = bytes.drop(while: HTTPSyntax.isBlank)
        while let last = bytes.last, HTTPSyntax.isBlank(last) { bytes.removeLast() }
        return MarkRun.shortened(String(decoding: bytes, as: UTF8.self))
    }
}
