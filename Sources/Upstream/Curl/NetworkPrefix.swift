internal import Glibc

/// The addresses that begin with the same bits.
struct NetworkPrefix: Sendable {
    /// 4 bytes, or 16.
    private let bytes: [UInt8]
    private let mask: [UInt8]

    /// The network of an address and its mask, both as text; nil when they are not, or of different kinds. The address
    /// alone when the mask has fewer than 8 bits, as a tunnel's may: the internet is no network of this machine.
    init?(of address: String, mask: String) {
        guard let bytes = Self.bytes(of: address), let mask = Self.bytes(of: mask), bytes.count == mask.count
        else { return nil }
        self.bytes = bytes
        self.mask = mask[0] == 0xFF ? mask : mask.map { _ in 0xFF }
    }

    /// `10.0.0.0/8`; nil when it is not written so.
    init?(_ text: String) {
        let parts = text.split(separator: "/")
        guard parts.count == 2, let bytes = Self.bytes(of: String(parts[0])), let length = Int(parts[1]),
            (0...8 * bytes.count).contains(length)
        else { return nil }
        self.bytes = bytes
        mask = bytes.indices.map { index in
            let bits = min(max(length - 8 * index, 0), 8)
            return UInt8(truncatingIfNeeded: 0xFF00 >> bits)
        }
    }

    func contains(_ address: [UInt8]) -> Bool {
        address.count == bytes.count
            && bytes.indices.allSatisfy { bytes[$0] & mask[$0] == address[$0] & mask[$0] }
    }

    /// The bytes of an address; those of the IPv4 address that an IPv6 one maps (RFC 4291, 2.5.5.2). Nil for other text.
    static func bytes(of text: String) -> [UInt8]? {
        var four = [UInt8](repeating: 0, count: 4)
        if inet_pton(AF_INET, text, &four) == 1 { return four }
        var sixteen = [UInt8](repeating: 0, count: 16)
        guard inet_pton(AF_INET6, text, &sixteen) == 1 else { return nil }
        let isMapped = sixteen[..<10].allSatisfy { $0 == 0 } && sixteen[10] == 0xFF && sixteen[11] == 0xFF
        return isMapped ? Array(sixteen[12...]) : sixteen
    }
}
