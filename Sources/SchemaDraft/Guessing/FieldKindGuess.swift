internal import EntitySchema

/// The type of a field, from what the document says of its values.
struct FieldKindGuess {
    let shapes: ShapeReader

    struct Found {
        var kind: DraftField.Kind
        var isTextOnWire = false
        var timeForm: String?
        var reason: String?
    }

    private static let money: Set = [
        "price", "amount", "cost", "fee", "balance", "subtotal", "revenue", "tax", "discount", "salary", "deposit",
        "total",
    ]

    /// Nil if the document does not say what it is.
    func kind(of shape: DataShape, name: String) -> Found? {
        switch shape.kind {
        case .string: text(shape, name)
        case .integer:
            Found(kind: .simple("integer"), reason: Self.isTimeName(name) ? "seconds or milliseconds" : nil)
        case .number:
            Self.isMoney(name)
                ? Found(kind: .simple("money"), reason: "money by its name")
                : Found(kind: .simple(Self.isWhole(name) ? "integer" : "number"))
        case .boolean: Found(kind: .simple("boolean"))
        case .object: Found(kind: .simple("object"))
        case .array: Found(kind: .simple("list"))
        case .unknown: nil
        }
    }

    private func text(_ shape: DataShape, _ name: String) -> Found {
        if let values = Self.values(of: shape) { return Found(kind: .enum(values)) }
        let example = shape.example?.text ?? ""
        switch shape.format ?? "" {
        case "date-time" where !TimeText.isOther(shape): return time(like: example)
        // As Directus and PostgREST name it, the latter with its time zone.
        case let format
        where format.hasPrefix("timestamp") && !TimeText.isOther(shape) && !TimeText.isCount(shape):
            return time(like: example)
        case "date": return Found(kind: .simple("date"))
        case "int32", "int64", "uint32", "uint64":
            return Found(kind: .simple("integer"), isTextOnWire: true, reason: "a number in quotes by its format")
        case "decimal", "money", "currency":
            return Found(kind: .simple("money"), isTextOnWire: true, reason: "an amount in quotes by its format")
        default: break
        }
        if Self.isMoney(name), example.contains("."), Double(example) != nil {
            return Found(kind: .simple("money"), isTextOnWire: true, reason: "an amount in quotes by its example")
        }
        if Self.isTimeName(name), shape.format == nil, example.isEmpty || example.contains("T"),
            !TimeText.isOther(shape)
        {
            return Found(kind: .simple("time"), reason: "a time by its name")
        }
        return Found(kind: .simple("string"))
    }

    /// One without the `T` of ISO 8601 is sent as the upstream writes it.
    private func time(like example: String) -> Found {
        guard example.contains(" "), let pattern = TimePattern(like: example), pattern.isISO else {
            return Found(kind: .simple("time"))
        }
        return Found(
            kind: .simple("time"), timeForm: pattern.source, reason: "written like \(example), in UTC")
    }

    /// Nil if it is no enum that a schema can have.
    private static func values(of shape: DataShape) -> [DataShape.EnumValue]? {
        let values = shape.enumValues.filter { !$0.value.isEmpty }
        guard (1...60).contains(values.count), values.allSatisfy({ isPlain($0.value) }) else { return nil }
        return values
    }

    private static func isPlain(_ text: String) -> Bool {
        text.count <= 80
            && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0 != "{" && $0 != "}" && $0.value != 0x7F }
    }

    static func isMoney(_ name: String) -> Bool { money.contains(Words.lastWord(of: name)) }

    private static func isWhole(_ name: String) -> Bool { ["id", "count"].contains(Words.lastWord(of: name)) }

    static func isTimeName(_ name: String) -> Bool {
        let word = Words.snake(name)
        return word.hasSuffix("_at") || word.hasSuffix("_datetime") || word.hasSuffix("_timestamp")
            || ["created", "updated", "modified", "timestamp"].contains(word)
    }
}
