/// Reads an answer of HTTP/1.1 from a connection that carries no other.
struct ResponseReader: Sendable {
    /// Gives the next bytes of the connection; none at its end.
    typealias Source = () throws(ClientError) -> [UInt8]

    struct Head: Sendable {
        var status: Int
        var headers: [HeaderField]
    }

    private enum Framing {
        case length(Int)
        case chunked
        case untilClosed
        case ended
    }

    private static let largestHead = 65_536

    private var rest: ArraySlice<UInt8> = []
    private var framing = Framing.ended
    /// Whether the answer has no body, whatever its head says.
    private let isHead: Bool

    init(isHead: Bool) { self.isHead = isHead }

    // MARK: The head

    /// The head of the final answer; those before it (100) are passed over.
    mutating func readHead(_ source: Source) throws(ClientError) -> Head {
        while true {
            let head = try oneHead(source)
            if head.status >= 200 {
                framing = try framing(of: head)
                return head
            }
        }
    }

    private mutating func oneHead(_ source: Source) throws(ClientError) -> Head {
        let words = try line(source).split(separator: " ", maxSplits: 2)
        guard words.count >= 2, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]), (100..<600).contains(status)
        else { throw .unexpected("the answer is not HTTP; is this the daemon?") }
        var head = Head(status: status, headers: [])
        while true {
            let line = try line(source)
            if line.isEmpty { return head }
            guard let colon = line.firstIndex(of: ":"), head.headers.count < 200 else {
                throw .unexpected("the head of the answer cannot be read")
            }
            let value = line[line.index(after: colon)...].trimming(while: { $0 == " " || $0 == "\t" })
            head.headers.append(HeaderField(String(line[..<colon]), String(value)))
        }
    }

    private func framing(of head: Head) throws(ClientError) -> Framing {
        if isHead || head.status == 204 || head.status == 304 { return .ended }
        if let coding = head.headers.first(named: "Transfer-Encoding") {
            guard coding.lowercased() == "chunked" else { throw .unexpected("the answer is coded as \(coding)") }
            return .chunked
        }
        guard let text = head.headers.first(named: "Content-Length") else { return .untilClosed }
        guard let length = Int(text), length >= 0 else { throw .unexpected("the answer has no valid length") }
        return .length(length)
    }

    // MARK: The body

    /// The next bytes of the body; nil at its end.
    mutating func next(_ source: Source) throws(ClientError) -> [UInt8]? {
        switch framing {
        case .ended, .length(0): return nil
        case .untilClosed:
            if rest.isEmpty { rest = try source()[...] }
            return rest.isEmpty ? nil : take(rest.count)
        case .length(let length):
            try fill(source)
            let piece = take(min(length, rest.count))
            framing = .length(length - piece.count)
            return piece
        case .chunked: return try chunk(source)
        }
    }

    /// A whole chunk; the daemon's are small.
    private mutating func chunk(_ source: Source) throws(ClientError) -> [UInt8]? {
        let digits = try line(source).prefix { $0 != ";" }
        guard let size = Int(digits.trimming(while: { $0 == " " }), radix: 16), size >= 0, size <= 1 << 30 else {
            throw .unexpected("the answer has a chunk without its size")
        }
        guard size > 0 else {
            framing = .ended
            while try !line(source).isEmpty {}
            return nil
        }
        var piece: [UInt8] = []
        while piece.count < size {
            try fill(source)
            piece += take(min(size - piece.count, rest.count))
        }
        guard try line(source).isEmpty else { throw .unexpected("the answer has a chunk of another size") }
        return piece
    }

    // MARK: Bytes

    private mutating func line(_ source: Source) throws(ClientError) -> String {
        var line: [UInt8] = []
        while true {
            try fill(source)
            let byte = rest.removeFirst()
            if byte == 0x0A { break }
            line.append(byte)
            guard line.count <= Self.largestHead else { throw .unexpected("the head of the answer is too large") }
        }
        if line.last == 0x0D { line.removeLast() }
        return String(decoding: line, as: UTF8.self)
    }

    /// Makes sure that there is a byte to read.
    private mutating func fill(_ source: Source) throws(ClientError) {
        if rest.isEmpty { rest = try source()[...] }
        guard !rest.isEmpty else {
            throw .interrupted("the daemon closed the connection before its answer was complete")
        }
    }

    private mutating func take(_ count: Int) -> [UInt8] {
        defer { rest.removeFirst(count) }
        return Array(rest.prefix(count))
    }
}

extension StringProtocol {
    /// Without the characters at both ends that meet a condition.
    func trimming(while isLeftOut: (Character) -> Bool) -> SubSequence {
        var text = drop(while: isLeftOut)
        while let last = text.last, isLeftOut(last) { text.removeLast() }
        return text
    }
}
