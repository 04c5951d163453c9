package import JSONText

/// Compares values by what they mean, because a server may write a value otherwise than it was sent.
extension Field {
    /// Whether two values of this field mean the same: money and numbers by amount, times by instant, days in any form
    /// of the upstream's, booleans also as 0 and 1, keys as text, sets in any order, text with either ends of lines; all of them
    /// also after one of `forms`.
    ///
    /// `directed`: only the second may be the other's normal form.
    package func isSame(
        _ one: JSONText, _ other: JSONText, under forms: Set<NormalForm> = [], directed: Bool = false
    ) -> Bool {
        if one.isEquivalent(to: other) { return true }
        if forms.contains(.emptied), isNothing(one), isNothing(other) { return true }
        guard one.kind != .null, other.kind != .null else {
            guard forms.contains(.emptied), forms.contains(.trimmed) else { return false }
            return isNothing(one.trimmed) && isNothing(other.trimmed)
        }
        switch kind {
        case .integer, .number, .money: return isSameAmount(one, other, forms, directed)
        case .boolean: return one.truth != nil && one.truth == other.truth
        case .time: return isSameTime(one, other, forms, directed)
        case .date: return meant(one).isDay && meant(one) == meant(other)
        case .string, .enum, .reference: return isSameText(one, other, forms, directed)
        case .list: return isSameList(one, other, forms)
        case .object: return false
        }
    }

    /// Whether it is null, an empty text, or `false` where no boolean belongs, as Odoo writes null: many servers turn one
    /// into the other.
    package func isNothing(_ value: JSONText) -> Bool {
        switch value.kind {
        case .null: true
        case .string: value.plain.isEmpty
        case .boolean: kind != .boolean && value.boolean == false
        default: false
        }
    }

    /// Whether it is what servers without null for such a field store in its place: 0, `false`, a day before all others, or an
    /// empty list or object.
    package func isZero(_ value: JSONText) -> Bool {
        switch kind {
        case .integer, .number, .money: return value.amount == JSONText.integer(0).amount
        case .boolean: return value.truth == false
        case .date, .time:
            let text = meant(value).string ?? ""
            return text.hasPrefix("0001-01-01") || text.hasPrefix("0000-00-00")
        case .list, .object:
            return value.kind == .array ? value.elements.isEmpty : value.kind == .object && value.members.isEmpty
        case .string, .enum, .reference: return false
        }
    }

    private func isSameAmount(
        _ one: JSONText, _ other: JSONText, _ forms: Set<NormalForm>, _ directed: Bool
    ) -> Bool {
        guard let mine = one.amount, let theirs = other.amount else { return false }
        if forms.contains(.single), one.isBinary(other) || !directed && other.isBinary(one) { return true }
        guard mine != theirs, forms.contains(.rounded) else { return mine == theirs }
        return theirs.isRounded(from: mine) || !directed && mine.isRounded(from: theirs)
    }

    private func isSameTime(
        _ one: JSONText, _ other: JSONText, _ forms: Set<NormalForm>, _ directed: Bool
    ) -> Bool {
        guard let mine = one.string.flatMap(Timestamp.init(iso8601:)),
            let theirs = other.string.flatMap(Timestamp.init(iso8601:))
        else { return false }
        // What the upstream's form of a time cuts off is never sent.
        if mine == theirs || timeFormat != nil && onWire(one) == onWire(other) { return true }
        let unit: Int64? = forms.contains(.minutes) ? 60_000 : forms.contains(.seconds) ? 1000 : nil
        guard let unit, abs(mine.milliseconds - theirs.milliseconds) < unit else { return false }
        return theirs.milliseconds % unit == 0 || !directed && mine.milliseconds % unit == 0
    }

    private func isSameText(
        _ one: JSONText, _ other: JSONText, _ forms: Set<NormalForm>, _ directed: Bool
    ) -> Bool {
        guard one.isScalar, other.isScalar else { return false }
        if forms.contains(.named), ListNames(forms, inAnyOrder: true).areSame(one.plain, other.plain) { return true }
        if forms.contains(.separated), one.plain.isSameNumber(as: other.plain) { return true }
        func form(_ text: String, trimmed: (String) -> String = { $0.withoutSpaceAround }) -> String {
            var text = text.withPlainLines
            if forms.contains(.trimmed) { text = trimmed(text) }
            if forms.contains(.squished) { text = text.split(whereSeparator: \.isWhitespace).joined(separator: " ") }
            if forms.contains(.lowercased) { text = text.lowercased() }
            if forms.contains(.uppercased) { text = text.uppercased() }
            return text
        }
        func read(_ text: String) -> String {
            var text = text.withPlainLines
            if forms.contains(.paragraphs) { text = HTMLText.withoutParagraphs(text.withoutSpaceAround) ?? text }
            return forms.contains(.escaped) ? HTMLText.unescaped(text).withPlainLines : text
        }
        // Swift compares text by canonical equivalence, so NFC and NFD are the same.
        guard directed else { return form(read(one.plain)) == form(read(other.plain)) }
        let answer = read(other.plain)
        if form(one.plain) == answer { return true }
        // Some servers trim one end alone.
        return forms.contains(.trimmed)
            && (form(one.plain, trimmed: { $0.withoutSpaceAfter }) == answer
                || form(one.plain, trimmed: { $0.withoutSpaceBefore }) == answer)
    }

    private func isSameList(_ one: JSONText, _ other: JSONText, _ forms: Set<NormalForm>) -> Bool {
        guard one.kind == .array, other.kind == .array else { return false }
        let (mine, theirs) = (one.elements, other.elements)
        let inAnyOrder = mergesAsSet || forms.contains(.sorted)
        if forms.contains(.named), ListNames(forms, inAnyOrder: inAnyOrder).areSame(mine, theirs) { return true }
        guard inAnyOrder else {
            return mine.count == theirs.count && zip(mine, theirs).allSatisfy { $0.isSameElement(as: $1) }
        }
        guard mergesAsSet || mine.count == theirs.count else { return false }
        // What both begin with, each has.
        let same = zip(mine, theirs).prefix { $0 == $1 }.count
        return ListElements(theirs).contains(allOf: mine[same...])
            && ListElements(mine).contains(allOf: theirs[same...])
    }
}

/// The elements of a list by what they mean, so that a long list is not searched once for each element of another.
private struct ListElements {
    private let elements: [JSONText]

    init(_ elements: [JSONText]) { self.elements = elements }

    /// Whether each of `others` is the same (`isSameElement`) as one of these.
    func contains(allOf others: ArraySlice<JSONText>) -> Bool {
        guard !others.isEmpty else { return true }
        var names = Set<String>(minimumCapacity: elements.count)
        var keys: Set<EquivalenceKey.Digest> = []
        for element in elements {
            if element.isName { names.insert(element.plain) }
            if !element.isText { keys.insert(EquivalenceKey.Digest(element)) }
        }
        return others.allSatisfy { other in
            other.isName && names.contains(other.plain) || !other.isText && keys.contains(EquivalenceKey.Digest(other))
        }
    }
}

extension JSONText {
    fileprivate var isScalar: Bool { kind != .object && kind != .array }

    fileprivate var trimmed: JSONText { kind == .string ? .string(plain.withoutSpaceAround) : self }

    package var truth: Bool? {
        switch plain.lowercased() {
        case "true", "1": true
        case "false", "0": false
        default: nil
        }
    }

    var isName: Bool { isScalar && kind != .null }

    /// A name that is the same as another value only if its text is: a number may be written in several ways.
    fileprivate var isText: Bool { kind == .string || kind == .boolean }

    /// A list names the same thing by a number or its text.
    fileprivate func isSameElement(as other: JSONText) -> Bool {
        isEquivalent(to: other) || isName && other.isName && plain == other.plain
    }
}

extension String {
    /// With LF at the end of each line, where servers that take text for that of a web form have CR and LF.
    fileprivate var withPlainLines: String {
        let (carriageReturn, lineFeed) = (UInt8(ascii: "\r"), UInt8(ascii: "\n"))
        guard utf8.contains(carriageReturn) else { return self }
        let bytes = Array(utf8)
        var plain: [UInt8] = []
        plain.reserveCapacity(bytes.count)
        for (index, byte) in bytes.enumerated() {
            let isInBreak = byte == carriageReturn && index + 1 < bytes.count && bytes[index + 1] == lineFeed
            if !isInBreak { plain.append(byte) }
        }
        return String(decoding: plain, as: UTF8.self)
    }

    var withoutSpaceAround: String { withoutSpaceBefore.withoutSpaceAfter }

    fileprivate var withoutSpaceBefore: String { String(drop { $0.isWhitespace }) }

    fileprivate var withoutSpaceAfter: String {
        guard let end = lastIndex(where: { !$0.isWhitespace }) else { return "" }
        return String(self[...end])
    }
}
