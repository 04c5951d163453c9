/// The configuration file and the folder beside it, whose files override it in the order of their names.
///
/// The folder is `conf.d` for config.yaml, and `NAME.conf.d` for NAME.yaml: instances with files in one folder share nothing.
struct ConfigurationFiles {
    /// The file; nil when neither it nor its folder exists. It may be missing if its folder is there.
    let path: String?
    var bundle = BundleReading()
    private let isNamed: Bool
    private let environment: Environment

    struct Contents {
        /// All files in one; nil when there is none.
        var file: ConfigurationFile?
        /// The paths of the folder's files.
        var parts: [String] = []
        /// The signed bundle, whose values all files override; nil when no file names one.
        var bundle: Bundle?
        /// Why the bundle in place is not used, but the one before.
        var warning: String?
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
            if isNamed || environment.isFile(path) { contents.add(try file(at: path, isLenient: isLenient)) }
        }
        try tolerate { (contents) throws(ConfigurationError) in contents.parts = try parts(of: path) }
        for part in contents.parts {
            try tolerate { (contents) throws(ConfigurationError) in
                contents.add(try file(at: part, isLenient: isLenient))
            }
        }
        try tolerate { (contents) throws(ConfigurationError) in try addBundle(to: &contents, isLenient: isLenient) }
        contents.problem = contents.problem ?? contents.file?.problem
        return contents
    }

    // MARK: The bundle

    /// Where the bundle is, whether or not it can be used; nil when no file names one.
    func bundlePlace() throws(ConfigurationError) -> Bundle.Place? {
        var contents = Contents()
        if let path, environment.isFile(path) { contents.add(try file(at: path, isLenient: false)) }
        for part in try path.map(parts) ?? [] { contents.add(try file(at: part, isLenient: false)) }
        return try bundlePlace(in: contents)
    }

    private func bundlePlace(in contents: Contents) throws(ConfigurationError) -> Bundle.Place? {
        let named = contents.file?.bundle ?? [:]
        guard let one = named.values.first else { return nil }
        guard let file = named["file"], let key = named["public_key"] else {
            throw ConfigurationError(
                place: one.source, problem: "bundle.file and bundle.public_key belong together; set both")
        }
        guard let key = MinisignKey(key.text) else {
            throw ConfigurationError(
                place: "\(key.source): bundle.public_key",
                problem: "this is not a minisign key; expected the second line of its .pub file")
        }
        return Bundle.Place(file: environment.absolute(file.text, from: path.map(environment.folder)), key: key)
    }

    private func addBundle(to contents: inout Contents, isLenient: Bool) throws(ConfigurationError) {
        guard let place = try bundlePlace(in: contents) else { return }
        var (bundle, values) = try read(place, isLenient, &contents.warning)
        contents.bundle = bundle
        if let files = contents.file { values.override(with: files) }
        contents.file = values
    }

    private func read(
        _ place: Bundle.Place, _ isLenient: Bool, _ warning: inout String?
    ) throws(ConfigurationError) -> (bundle: Bundle, values: ConfigurationFile) {
        do throws(ConfigurationError) {
            if let candidate = bundle.candidate { return try Bundle.read(candidate, place.key, isLenient: isLenient) }
            return try Bundle.read(place, isLenient: isLenient)
        } catch {
            var former = place
            former.file += BundleInstallation.formerEnding
            guard bundle.acceptsFormer, bundle.candidate == nil,
                let found = try? Bundle.read(former, isLenient: isLenient)
            else {
                throw error
            }
            warning = "\(error); using bundle \(found.bundle.serial), the one before (\(former.file))"
            return found
        }
    }

    // MARK: Files

    private func file(at path: String, isLenient: Bool) throws(ConfigurationError) -> ConfigurationFile {
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
