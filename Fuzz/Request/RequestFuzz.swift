@testable import SocketServer

/// Feeds the request parser, whole and in pieces.
///
/// The first byte says how the rest is cut. The cut must not matter, no limit may be exceeded, and no character that
/// could split a line may get through.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: data, count: count))
    guard let cut = input.first else { return 0 }
    input.dropFirst().withUnsafeBytes { input in
        let whole = outcome(of: input, pieceSize: max(input.count, 1))
        let pieces = outcome(of: input, pieceSize: Int(cut % 61) + 1)
        precondition(whole == pieces, "the same bytes cut differently gave another result")
        whole.messages.forEach(check)
    }
    return 0
}

private struct Outcome: Equatable {
    var messages: [RequestParser.Message] = []
    var refusal: Refusal?
}

/// Small limits, so that the fuzzer reaches them.
private func smallLimits() -> ServerLimits {
    var limits = ServerLimits()
    limits.requestLineBytes = 64
    limits.headBytes = 256
    limits.headerCount = 8
    limits.bodyBytes = 64
    limits.chunkExtensionBytes = 16
    limits.readAheadBytes = 128
    return limits
}

private func outcome(of input: UnsafeRawBufferPointer, pieceSize: Int) -> Outcome {
    var parser = RequestParser(limits: smallLimits())
    var outcome = Outcome()
    for start in stride(from: 0, to: input.count, by: pieceSize) {
        parser.append(UnsafeRawBufferPointer(rebasing: input[start..<min(start + pieceSize, input.count)]))
        do throws(Refusal) {
            while let message = try parser.next() {
                outcome.messages.append(message)
                _ = parser.takeContinue()
            }
        } catch {
            outcome.refusal = error
            return outcome
        }
    }
    return outcome
}

private func check(_ message: RequestParser.Message) {
    let limits = smallLimits()
    precondition(message.body.count <= limits.bodyBytes)
    precondition(message.headers.fields.count <= limits.headerCount)
    precondition(message.path.utf8.first == UInt8(ascii: "/"))
    // HTTP/1.0 does not need it.
    let hosts = message.headers[all: "Host"]
    precondition(hosts.count == 1 && hosts[0] != "" || message.isOld && hosts.isEmpty)
    precondition(message.headers[all: "Content-Length"].count + message.headers[all: "Transfer-Encoding"].count <= 1)
    let fields = message.headers.fields.flatMap { [$0.name, $0.value] }
    for text in [message.method, message.path, message.query ?? ""] + fields {
        precondition(text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 })
    }
}
