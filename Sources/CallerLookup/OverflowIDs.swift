internal import Glibc

/// The kernel's overflow user and group ids.
///
/// The kernel shows all users of other user namespaces as these ids (user_namespaces(7)), so they identify no user.
struct OverflowIDs {
    private let user: UInt32
    private let group: UInt32

    init() {
        user = Self.number(in: "/proc/sys/kernel/overflowuid")
        group = Self.number(in: "/proc/sys/kernel/overflowgid")
    }

    /// Nil for the overflow user; for other users the credentials without the overflow group.
    func removed(from credentials: PeerCredentials) -> PeerCredentials? {
        guard credentials.user != user else { return nil }
        return PeerCredentials(user: credentials.user, groups: credentials.groups.filter { $0 != group })
    }

    /// Falls back to the kernel's default when the file is hidden.
    private static func number(in path: String) -> UInt32 {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return 65_534 }
        defer { close(descriptor) }
        var text = [UInt8](repeating: 0, count: 16)
        let count = read(descriptor, &text, text.count)
        return UInt32(String(decoding: text[..<max(0, count)].prefix { $0 != 0x0A }, as: UTF8.self)) ?? 65_534
    }
}
