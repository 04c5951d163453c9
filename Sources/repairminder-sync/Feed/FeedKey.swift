/// A record's key, compared byte by byte as both databases do. As texts of Swift, `é` is equal to `e` with an accent after it.
struct FeedKey: Hashable, ExpressibleByStringLiteral {
    let text: String

    init(_ text: String) { self.text = text }

    init(stringLiteral text: String) { self.text = text }

    static func == (one: FeedKey, other: FeedKey) -> Bool { one.text.utf8.elementsEqual(other.text.utf8) }

    func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }
}
