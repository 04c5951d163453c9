internal import Glibc

/// The ids that stand for everybody who has none here.
///
/// The kernel shows users of another user namespace as these (user_namespaces(7)), so they are nobody in particular.
struct OverflowIDs {
    private let user: UInt32
    private let group: UInt32

    init() {
        user = Self.number(in: "/proc/sys/kernel/overflowuid")
        group = Self.number(in: "/proc/sys/kernel/overflowgid")
    }

    /// Nil for nobody; without the groups of nobody for anybody else.
    func removed(from credentials: PeerCredentials) -> PeerCredentials? {
        guard credentials.user != user else { return nil }
        return PeerCredentials(user: credentials.user, groups: credentials.groups.filter { $0 != group })
    }

    /// Where the file is hidden the kernel's default holds.
    private static func number(in path: String) -> UInt32 {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return 65_534 }
        defer { close(descriptor) }
        var text = [UInt8](repeating: 0, count: 16)
        let count = read(descriptor, &text, text.count)
        return UInt32(String(decoding: text[..<max(0, count)].prefix { $0 != 0x0A }, as: UTF8.self)) ?? 65_534
    }
}
