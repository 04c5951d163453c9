internal import CYaml

/// Goes through a YAML text without building anything from it, and refuses what would take Yams forever.
///
/// Yams puts a value in the place of each alias and hashes every key. Aliases of aliases make a huge value of a few hundred
/// bytes: as a key, it is hashed before anyone can count it.
struct YAMLScan {
    private struct Collection {
        let isMapping: Bool
        let anchor: String?
        /// With aliases replaced.
        var size = 1
        /// Whether a key of the mapping comes next.
        var isAtKey: Bool
    }

    /// libyaml compares each `%TAG` with all others, and each tag of a value with all of them.
    private static let mostTagDirectives = 100

    private let limit: Int
    /// Outermost first.
    private var open: [Collection] = []
    /// By anchor.
    private var sizes: [String: Int] = [:]

    /// Throws `YAMLError` when the text expands to more than `limit` values and keys, has a key that is no scalar, or declares
    /// very many tags. Does not report what is no YAML.
    static func check(_ yaml: String, limit: Int) throws {
        var scan = YAMLScan(limit: limit)
        var yaml = yaml
        try yaml.withUTF8 { bytes in
            try refuseManyTags(bytes)
            try scan.run(bytes)
        }
    }

    private static func refuseManyTags(_ bytes: UnsafeBufferPointer<UInt8>) throws {
        var rest = bytes[...]
        var count = 0
        while let mark = rest.firstIndex(of: UInt8(ascii: "%")) {
            rest = rest[(mark + 1)...]
            if rest.starts(with: "TAG ".utf8) || rest.starts(with: "TAG\t".utf8) { count += 1 }
            guard count <= mostTagDirectives else {
                throw YAMLError(problem: "it has more than \(mostTagDirectives) %TAG directives; leave them out")
            }
        }
    }

    private init(limit: Int) { self.limit = limit }

    private mutating func run(_ bytes: UnsafeBufferPointer<UInt8>) throws {
        // libyaml keeps the address of its parser.
        let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
        defer { parser.deallocate() }
        guard yaml_parser_initialize(parser) == 1 else { throw YAMLError(problem: "out of memory") }
        defer { yaml_parser_delete(parser) }
        yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        yaml_parser_set_input_string(parser, bytes.baseAddress, bytes.count)
        while true {
            var event = yaml_event_t()
            guard yaml_parser_parse(parser, &event) == 1 else { return }
            defer { yaml_event_delete(&event) }
            if event.type == YAML_STREAM_END_EVENT { return }
            do {
                try note(event)
            } catch var error as YAMLError {
                error.line = Int(event.start_mark.line) + 1
                throw error
            }
        }
    }

    private mutating func note(_ event: yaml_event_t) throws {
        switch event.type {
        case YAML_SCALAR_EVENT: try add(1, Self.text(event.data.scalar.anchor))
        case YAML_ALIAS_EVENT:
            guard open.last?.isAtKey != true else {
                throw YAMLError(problem: "an alias cannot be a key; write the key")
            }
            try add(Self.text(event.data.alias.anchor).flatMap { sizes[$0] } ?? 1, nil)
        case YAML_SEQUENCE_START_EVENT: try begin(isMapping: false, Self.text(event.data.sequence_start.anchor))
        case YAML_MAPPING_START_EVENT: try begin(isMapping: true, Self.text(event.data.mapping_start.anchor))
        case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT:
            guard let ended = open.popLast() else { return }
            try add(ended.size, ended.anchor)
        default: break
        }
    }

    private mutating func begin(isMapping: Bool, _ anchor: String?) throws {
        guard open.last?.isAtKey != true else {
            throw YAMLError(problem: "a list or a mapping cannot be a key; write a text")
        }
        open.append(Collection(isMapping: isMapping, anchor: anchor, isAtKey: isMapping))
    }

    /// Adds a whole value or key to the collection that it is in.
    private mutating func add(_ size: Int, _ anchor: String?) throws {
        if let anchor { sizes[anchor] = size }
        guard let last = open.indices.last else { return }
        open[last].size += size
        if open[last].isMapping { open[last].isAtKey.toggle() }
        guard open[last].size < limit else {
            throw YAMLError(problem: "it has more than \(limit) values; use fewer aliases")
        }
    }

    private static func text(_ anchor: UnsafeMutablePointer<yaml_char_t>?) -> String? {
        anchor.map { String(cString: $0) }
    }
}
