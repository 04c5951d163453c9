/// The configuration file and the folder beside it, whose files override it in the order of their names.
///
/// The folder is `conf.d` for config.yaml, and `NAME.conf.d` for NAME.yaml: instances with files in one folder share nothing.
struct ConfigurationFiles {
    /// The file; nil when neither it nor its folder exists. It may be missing if its folder is there.
    let path: String?
    private let isNamed: Bool
    private let environment: Environment

    struct Contents {
        /// All files in one; nil when there is none.
        var file: ConfigurationFile?
        /// The paths of the folder's files.
        var parts: [String] = []
        /// The first thing that a lenient reader left out.
        var problem: ConfigurationError?

        mutating func add(_ later: ConfigurationFile) {
            guard file != nil else { return file = later }
            file?.override(with: later)
        }
    }

    /// `path` nil for the system's file.
    init(named path: String?, environment: Environment) {
        let system = environment.systemFolder + "/config.yaml"
        let exists = environment.isFile(system) || !environment.names(in: Self.folder(of: system)).isEmpty
        self.path = path ?? (exists ? system : nil)
        isNamed = path != nil
        self.environment = environment
    }

    /// `/etc/repairminder-sync/conf.d` for `/etc/repairminder-sync/config.yaml`.
    static func folder(of path: String) -> String {
        let slash = path.lastIndex(of: "/")
        let name = slash.map { path[path.index(after: $0)...] } ?? path[...]
        let start = slash.map { path[...$0] } ?? ""
        let stem = endings.first { name.hasSuffix($0) }.map { name.dropLast($0.count) } ?? name
        return stem == "config" ? "\(start)conf.d" : "\(start)\(stem).conf.d"
    }

    private static let endings = [".yaml", ".yml", ".json"]

    /// With `isLenient`, what cannot be used is left out, except a file that is named and cannot be read.
    func contents(isLenient: Bool) throws(ConfigurationError) -> Contents {
        var contents = Contents()
        guard let path else { return contents }
        func tolerate(
            named: Bool = false, _ read: (inout Contents) throws(ConfigurationError) -> Void
        ) throws(ConfigurationError) {
            do throws(ConfigurationError) {
                try read(&contents)
            } catch {
                guard isLenient, !named else { throw error }
                contents.problem = contents.problem ?? error
            }
        }
        try tolerate(named: isNamed) { (contents) throws(ConfigurationError) in
            if isNamed || environment.isFile(path) { contents.add(try file(at: path, isLenient)) }
        }
        try tolerate { (contents) throws(ConfigurationError) in contents.parts = try parts(of: path) }
        for part in contents.parts {
            try tolerate { (contents) throws(ConfigurationError) in contents.add(try file(at: part, isLenient)) }
        }
        contents.problem = contents.problem ?? contents.file?.problem
        return contents
    }

    private func file(at path: String, _ isLenient: Bool) throws(ConfigurationError) -> ConfigurationFile {
        try ConfigurationFile(yaml: environment.text(of: path), path: path, isLenient: isLenient)
    }

    /// What editors and package managers leave beside a file has another ending, or begins with a dot.
    private func parts(of path: String) throws(ConfigurationError) -> [String] {
        let folder = Self.folder(of: path)
        let names = try environment.listing(of: folder).filter { name in
            !name.hasPrefix(".") && Self.endings.contains { name.hasSuffix($0) }
        }
        return names.sorted().map { "\(folder)/\($0)" }
    }
}
