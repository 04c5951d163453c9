import Testing

@testable import CallerLookup

@Suite("Socket diagnosis")
struct SocketDiagnosisTests {
    private let tuple = SocketTuple(
        source: SocketTuple.End(address: [127, 0, 0, 1], port: 40_000),
        destination: SocketTuple.End(address: [127, 0, 0, 1], port: 7679))

    /// The kernel's answer as bytes: `nlmsghdr`, then `inet_diag_msg`.
    private func message(
        sequence: UInt32 = 9, type: UInt16 = 20, state: UInt8 = 1, user: UInt32 = 1000, inode: UInt32 = 77,
        sourcePort: UInt16 = 40_000, destination: [UInt8] = [127, 0, 0, 1]
    ) -> [UInt8] {
        var bytes: [UInt8] = [2, state, 0, 0]
        bytes += withUnsafeBytes(of: sourcePort.bigEndian, Array.init)
        bytes += withUnsafeBytes(of: UInt16(7679).bigEndian, Array.init)
        bytes += [127, 0, 0, 1] + [UInt8](repeating: 0, count: 12)
        bytes += destination + [UInt8](repeating: 0, count: 12 + 12)
        for number in [0, 0, 0, user, inode] { bytes += withUnsafeBytes(of: number, Array.init) }
        var header = withUnsafeBytes(of: UInt32(16 + bytes.count), Array.init)
        header += withUnsafeBytes(of: type, Array.init) + [0, 0]
        header += withUnsafeBytes(of: sequence, Array.init) + [0, 0, 0, 0]
        return header + bytes
    }

    private func answer(_ bytes: [UInt8]) -> SocketDiagnosis.Answer {
        bytes.withUnsafeBytes { SocketDiagnosis.answer($0, to: tuple, sequence: 9) }
    }

    @Test("an open socket has an owner", arguments: [1, 4, 5, 8] as [UInt8])
    func open(_ state: UInt8) {
        #expect(answer(message(state: state)) == .owner(1000))
    }

    @Test(
        "a socket that is opening, listening, in TIME_WAIT or closed has no owner",
        arguments: [2, 3, 6, 7, 9, 10, 11, 12, 0])
    func notOpen(_ state: UInt8) {
        #expect(answer(message(state: state, user: 0)) == .noOwner)
    }

    @Test("a socket without an inode is not attributed to root")
    func orphan() {
        #expect(answer(message(user: 0, inode: 0)) == .noOwner)
    }

    @Test("an answer about another socket has no owner")
    func other() {
        #expect(answer(message(sourcePort: 40_001)) == .noOwner)
        #expect(answer(message(destination: [127, 0, 0, 2])) == .noOwner)
        #expect(answer(message(destination: [0, 0, 0, 0])) == .noOwner)
    }

    @Test("an answer to another query is skipped, an error has no owner, and a short answer is not parsed")
    func garbled() {
        #expect(answer(message(sequence: 8)) == .other)
        #expect(answer(message(type: 2)) == .noOwner)
        for count in 0..<88 { #expect(answer(Array(message().prefix(count))) != .owner(1000)) }
    }

    @Test("a query identifies one socket by both ends")
    func question() {
        let bytes = SocketDiagnosis.question(tuple, sequence: 9)
        #expect(bytes.count == 72)
        #expect(Array(bytes[16..<18]) == [2, 6])
        #expect(Array(bytes[24..<28]) == [0x9C, 0x40, 0x1D, 0xFF])
        #expect(Array(bytes[28..<32]) == [127, 0, 0, 1] && Array(bytes[44..<48]) == [127, 0, 0, 1])
        var other = tuple
        other.source = SocketTuple.End(address: [UInt8](repeating: 0, count: 15) + [1], port: 1)
        #expect(SocketDiagnosis.question(other, sequence: 9)[16] == 10)
    }

    @Test("only loopback addresses count as loopback")
    func loopback() {
        #expect(tuple.isLoopback)
        for address: [UInt8] in [[127, 255, 0, 1], [UInt8](repeating: 0, count: 15) + [1]] {
            #expect(SocketTuple.End(address: address, port: 1).isLoopback)
        }
        for address: [UInt8] in [[10, 0, 0, 1], [0, 0, 0, 0], [UInt8](repeating: 0, count: 16), [126, 0, 0, 1]] {
            #expect(!SocketTuple.End(address: address, port: 1).isLoopback)
        }
    }
}
