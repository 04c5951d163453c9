/// Values in which servers fill in members: a new order is sent with the city of its address alone, and shown with all that an
/// address has.
extension JSONText {
    /// As in `isEquivalent`: what is deeper is the same only as it is.
    private static let mostLevels = 8

    /// Whether `shown` is an object or a list with all that this one has, and perhaps more. Lists have as many elements, in the
    /// same order. An object of nulls alone says nothing, so no other one is taken for it.
    package func isFilled(in shown: JSONText) -> Bool {
        switch kind {
        case .object: members.contains { $0.value.kind != .null } && isPart(of: shown, levels: Self.mostLevels)
        case .array: isPart(of: shown, levels: Self.mostLevels)
        case .null, .string, .number, .boolean: false
        }
    }

    /// Whether `shown` is this value, however it is written, or has all that this one has.
    package func isKept(in shown: JSONText) -> Bool { isPart(of: shown, levels: Self.mostLevels) }

    private func isPart(of shown: JSONText, levels: Int) -> Bool {
        switch (kind, shown.kind) {
        case (.object, .object) where levels > 0:
            let others = shown.lastMembers
            return lastMembers.allSatisfy { $0.value.isPart(of: others[$0.key] ?? .null, levels: levels - 1) }
        case (.array, .array) where levels > 0:
            return elementCount == shown.elementCount
                && zip(elements, shown.elements).allSatisfy { $0.isPart(of: $1, levels: levels - 1) }
        case (.null, _): return shown.kind == .null || shown.string?.isEmpty == true
        default: return isSameAmount(as: shown) || isEquivalent(to: shown) || isSpelled(like: shown)
        }
    }

    /// Whether both are texts that differ in case and in the spaces around them at most.
    private func isSpelled(like other: JSONText) -> Bool {
        guard let text = string, let other = other.string else { return false }
        return text.spelling == other.spelling
    }

    /// No field says what is inside, so a number is also the same in quotes: many servers write 8 as `"8.00"`.
    private func isSameAmount(as shown: JSONText) -> Bool { amount.map { $0 == shown.amount } ?? false }
}

extension String {
    /// In one case and without the spaces around it. Both changes of case are needed: "ß" becomes "SS".
    package var spelling: String {
        let start = uppercased().lowercased().drop { $0.isWhitespace }
        let end = start.lastIndex { !$0.isWhitespace }
        return end.map { String(start[...$0]) } ?? ""
    }
}
