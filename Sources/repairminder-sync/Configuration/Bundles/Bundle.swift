import EntitySchema
import Foundation
import Glibc
import SystemCalls
import Yams

/// A signed file with configuration and schema for many machines.
struct Bundle: Sendable {
    /// Greater in each newer bundle.
    let serial: Int
    /// Nil when it has none.
    let schema: String?
    /// What its author signed with it.
    let comment: String
    let contents: [UInt8]
    let signature: String

    /// A file that is larger is not read.
    private static let mostBytes = 8 << 20

    /// Where a bundle is, and the key that it must be signed with.
    struct Place: Equatable, Sendable {
        var file: String
        var key: MinisignKey
    }

    /// What a file and the signature beside it had when they were read, once: who can change them cannot change this.
    struct Files: Equatable, Sendable {
        let path: String
        let contents: [UInt8]
        let signature: String

        init(at path: String) throws(ConfigurationError) {
            self.path = path
            contents = try Bundle.bytes(of: path)
            signature = String(decoding: try Bundle.bytes(of: path + ".minisig"), as: UTF8.self)
        }
    }

    static func read(
        _ place: Place, isLenient: Bool = false
    ) throws(ConfigurationError) -> (bundle: Bundle, values: ConfigurationFile) {
        try read(Files(at: place.file), place.key, isLenient: isLenient)
    }

    /// Nothing of a file with another signature is looked at.
    static func read(
        _ files: Files, _ key: MinisignKey, isLenient: Bool = false
    ) throws(ConfigurationError) -> (bundle: Bundle, values: ConfigurationFile) {
        guard let signature = MinisignSignature(files.signature) else {
            throw ConfigurationError(
                place: files.path + ".minisig", problem: "this is not a minisign signature; expected four lines")
        }
        let comment: String
        do {
            comment = try signature.check(files.contents, key)
        } catch {
            throw ConfigurationError(place: files.path, problem: error.problem)
        }
        let (serial, schema, values) = try read(files.contents, files.path, isLenient)
        let bundle = Bundle(
            serial: serial, schema: schema, comment: comment, contents: files.contents, signature: files.signature)
        return (bundle, values)
    }

    private static func read(
        _ contents: [UInt8], _ path: String, _ isLenient: Bool
    ) throws(ConfigurationError) -> (serial: Int, schema: String?, values: ConfigurationFile) {
        let root = try ConfigurationFile.root(of: String(decoding: contents, as: UTF8.self), path: path)
        let known = ["bundle", "config", "schema"]
        for (name, _) in root?.mapping ?? [:] where !known.contains(name.string ?? "") {
            throw ConfigurationError(
                place: path, problem: "unknown key \(name.string ?? ""); a bundle has \(known.joined(separator: ", "))")
        }
        guard let mapping = root?.mapping, let serial = mapping["bundle"]?.scalar.flatMap({ Int($0.string) }),
            serial > 0
        else {
            throw ConfigurationError(
                place: path, problem: "bundle is missing; expected a number that grows with each bundle")
        }
        let schema = mapping["schema"].flatMap { $0.isNull ? nil : $0 }
        if let schema, schema.scalar == nil {
            throw ConfigurationError(place: path, problem: "schema is not text; put a | after it, and the file below")
        }
        let values = try ConfigurationFile(root: mapping["config"], path: path, isLenient: isLenient)
        guard values.bundle.isEmpty else {
            throw ConfigurationError(place: path, problem: "a bundle cannot name another; remove config.bundle")
        }
        guard schema == nil || values.values[.schema] == nil else {
            throw ConfigurationError(place: path, problem: "it has a schema and names one in config.schema; remove one")
        }
        return (serial, schema?.scalar?.string, values)
    }

    /// Opened once: another user could put a pipe, or a longer file, there after a look at its name.
    private static func bytes(of path: String) throws(ConfigurationError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else {
            let isMissing = [ENOENT, ENOTDIR].contains(errno)
            throw ConfigurationError(
                place: path,
                problem: isMissing ? "the file does not exist" : "the file cannot be read; check its permissions")
        }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        guard stat(of: descriptor)?.isFile == true else {
            throw ConfigurationError(place: path, problem: "this is not a file")
        }
        // Nil stands for an empty file.
        guard let data = try? file.read(upToCount: mostBytes + 1) ?? Data() else {
            throw ConfigurationError(place: path, problem: "the file cannot be read; check the disk")
        }
        guard data.count <= mostBytes else {
            throw ConfigurationError(place: path, problem: "the file is larger than \(mostBytes >> 20) MiB")
        }
        return Array(data)
    }
}
