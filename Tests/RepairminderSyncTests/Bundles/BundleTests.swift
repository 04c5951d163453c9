import Crypto
import EntitySchema
import Foundation
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import repairminder_sync

@Suite("Signed bundles") struct BundleTests {
    let folder: TemporaryFolder
    private let signer = Curve25519.Signing.PrivateKey()

    private static let schema = """
        schema: |
          schema: s
          upstream: { base_url: 'https://a.example' }
          entities: { a: { fields: { id: { type: string } }, pull: { path: /a } } }

        """

    init() throws {
        folder = try TemporaryFolder()
        try configure("")
    }

    // MARK: Files

    private func configure(_ more: String, at place: String = "bundle.yaml") throws {
        let key = Data(Array("Ed".utf8) + Array(repeating: 1, count: 8) + Array(signer.publicKey.rawRepresentation))
        try folder.write(
            "bundle: { file: \(place), public_key: \(key.base64EncodedString()) }\n\(more)", to: "config.yaml")
    }

    /// Writes a bundle and its signature, and returns its path.
    @discardableResult
    private func sign(_ text: String, as name: String = "bundle.yaml") throws -> String {
        let signature = Array(try signer.signature(for: BLAKE2b.hash(Array(text.utf8))))
        let first = Data(Array("ED".utf8) + Array(repeating: 1, count: 8) + signature).base64EncodedString()
        let second = try signer.signature(for: signature + Array("test".utf8)).base64EncodedString()
        try folder.write(
            "untrusted comment: x\n\(first)\ntrusted comment: test\n\(second)\n", to: name + ".minisig")
        return try folder.write(text, to: name)
    }

    private var reader: SetupReader {
        SetupReader(path: folder.path("config.yaml"), flags: [:], environment: folder.environment())
    }

    private func refusal(_ reader: SetupReader? = nil) -> String? {
        do {
            _ = try (reader ?? self.reader).setup()
            return nil
        } catch {
            return "\(error)".replacing(folder.path + "/", with: "")
        }
    }

    private func install(_ path: String, allowsOlder: Bool = false) throws -> Int {
        try BundleCommand.Install.install(path, reader, allowsOlder: allowsOlder)
    }

    @Test("what was checked is installed, even if another signed bundle has taken the file's name meanwhile")
    func readOnce() throws {
        try sign("bundle: 3\n" + Self.schema)
        let path = try sign("bundle: 4\n" + Self.schema, as: "new.yaml")
        let files = try Bundle.Files(at: path)
        try sign("bundle: 5\nconfig: { sync: { interval: 1 } }\n", as: "new.yaml")
        let place = try #require(
            try ConfigurationFiles(named: reader.path, environment: reader.environment).bundlePlace())
        #expect(try BundleCommand.Install.install(files, at: place, reader, false) == 4)
        #expect(try reader.setup().configuration.bundle?.serial == 4)
    }

    // MARK: Reading

    @Test("a bundle has settings, which files override, and the schema")
    func layers() throws {
        try sign("bundle: 3\nconfig: { sync: { interval: 5m, full_every: 5h } }\n" + Self.schema)
        try configure("sync: { interval: 6m }")
        let setup = try reader.setup()
        #expect(setup.configuration.sync.interval == .seconds(360))
        #expect(setup.configuration.sync.fullEvery == .seconds(18_000))
        #expect(setup.schema.name == "s" && setup.schemaFile == "the schema of bundle 3")
        #expect(setup.configuration.bundle?.serial == 3 && setup.configuration.bundle?.comment == "test")
        #expect(setup.configuration.warnings.isEmpty)
    }

    @Test("a schema that a file names counts instead of the bundle's")
    func ownSchema() throws {
        try sign("bundle: 3\n" + Self.schema)
        try configure("schema: propdocs\nupstream: { base_url: 'https://a.example' }")
        #expect(try reader.setup().schema.name == "propdocs")
    }

    @Test("a file that was changed after it was signed is refused before it is read as YAML")
    func changed() throws {
        try sign("bundle: 3\n")
        try folder.write("bundle: [", to: "bundle.yaml")
        #expect(refusal()?.hasPrefix("bundle.yaml: the signature does not fit") == true)
    }

    @Test("a missing bundle or signature is refused")
    func missing() throws {
        #expect(refusal() == "bundle.yaml: the file does not exist")
        try folder.write("bundle: 3", to: "bundle.yaml")
        #expect(refusal() == "bundle.yaml.minisig: the file does not exist")
    }

    @Test(
        "a signed file that is no bundle is refused with its name and the line of a wrong value",
        arguments: [
            ("config: {}", "bundle.yaml: bundle is missing"), ("bundle: 0", "bundle.yaml: bundle is missing"),
            ("bundle: 1\nconfg: {}", "bundle.yaml: unknown key confg"),
            ("bundle: 1\nconfig:\n  sync: { interval: 1 }", "bundle.yaml:3: sync.interval: \"1\" is not valid"),
            ("bundle: 1\nconfig: { bundle: { file: /x, public_key: y } }", "bundle.yaml: a bundle cannot name another"),
            ("bundle: 1\nschema: { a: b }", "bundle.yaml: schema is not text"),
            ("bundle: 1\nschema: a\nconfig: { schema: b }", "bundle.yaml: it has a schema and names one"),
        ])
    func wrong(_ text: String, _ message: String) throws {
        try sign(text)
        #expect(refusal()?.hasPrefix(message) == true, "\(refusal() ?? "accepted")")
    }

    @Test("file and key belong together, and the key must be one")
    func halves() throws {
        try folder.write("bundle: { file: bundle.yaml }", to: "config.yaml")
        #expect(refusal()?.contains("set both") == true)
        try folder.write("bundle: { file: bundle.yaml, public_key: abc }", to: "config.yaml")
        #expect(refusal()?.hasPrefix("config.yaml:1: bundle.public_key: this is not a minisign key") == true)
    }

    // MARK: Installing

    @Test(
        "an installed bundle replaces the one before, which is kept and counts at a start when the new one is damaged")
    func former() throws {
        let first = try sign("bundle: 1\nconfig: { site: one }\n" + Self.schema, as: "new.yaml")
        #expect(try install(first) == 1)
        #expect(try install(sign("bundle: 2\nconfig: { site: two }\n" + Self.schema, as: "new.yaml")) == 2)
        #expect(try reader.setup().configuration.site == "two")
        try folder.write("bundle: 3\nconfig: { site: three }\n", to: "bundle.yaml")
        let configuration = try reader.setup().configuration
        #expect(configuration.site == "one")
        #expect(configuration.warnings.first?.contains("using bundle 1, the one before") == true)
        var strict = reader
        strict.bundle.acceptsFormer = false
        #expect(refusal(strict)?.contains("the signature does not fit") == true)
    }

    @Test("an older bundle, or another with the same number, is refused unless that is allowed")
    func older() throws {
        _ = try install(sign("bundle: 2\nconfig: { site: two }\n" + Self.schema, as: "new.yaml"))
        let same = try sign("bundle: 2\nconfig: { site: other }\n" + Self.schema, as: "same.yaml")
        let older = try sign("bundle: 1\nconfig: { site: one }\n" + Self.schema, as: "older.yaml")
        for path in [same, older] { #expect(throws: CommandFailure.self) { try install(path) } }
        #expect(try reader.setup().configuration.site == "two")
        #expect(try install(folder.path("new.yaml")) == 2)
        #expect(try install(older, allowsOlder: true) == 1)
        #expect(try reader.setup().configuration.site == "one")
    }

    @Test("of bundles that are installed at the same time the newest is in effect, and none fails but for its age")
    func atOnce() throws {
        let paths = try (1...8).map { try sign("bundle: \($0)\n" + Self.schema, as: "new\($0).yaml") }
        let refusals = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: paths.count) { number in
            do {
                _ = try install(paths[number])
            } catch {
                refusals.withLock { $0.append("\(error)") }
            }
        }
        #expect(refusals.withLock { $0 }.filter { !$0.contains("is older than") } == [])
        #expect(try reader.setup().configuration.bundle?.serial == 8)
    }

    @Test("while the bundle in place is damaged, none is installed that is older than the one before")
    func olderThanFormer() throws {
        _ = try install(sign("bundle: 2\n" + Self.schema, as: "new.yaml"))
        _ = try install(sign("bundle: 3\n" + Self.schema, as: "new.yaml"))
        try folder.write("bundle: 3\n", to: "bundle.yaml")
        let older = try sign("bundle: 1\n" + Self.schema, as: "older.yaml")
        let error = #expect(throws: CommandFailure.self) { try install(older) }
        #expect(error?.message.contains("bundle 1 is older than 2") == true)
        #expect(try install(folder.path("new.yaml")) == 3)
    }

    @Test("a bundle with which the configuration would be invalid, or of another key, is not installed")
    func invalid() throws {
        let wrong = try sign("bundle: 1\nconfig: { sync: { interval: 1 } }\n" + Self.schema, as: "new.yaml")
        #expect(throws: ConfigurationError.self) { try install(wrong) }
        try folder.write(SignedBundle.twelve.signature, to: "other.yaml.minisig")
        let other = try folder.write(SignedBundle.twelve.text, to: "other.yaml")
        #expect(throws: ConfigurationError.self) { try install(other) }
        #expect(!FileManager.default.fileExists(atPath: folder.path("bundle.yaml")))
    }

    @Test(
        "root installs no bundle in a folder of another user, who could put a link there",
        .enabled(if: getuid() == 0, "needs root"))
    func foreignPlace() throws {
        let victim = try folder.write("", to: "victim/empty")
        let other = folder.path("other")
        try #require(mkdir(other, 0o700) == 0 && symlink(folder.path("victim"), other + "/link") == 0)
        try #require(lchown(other + "/link", 4242, 4242) == 0 && chown(other, 4242, 4242) == 0)
        let new = try sign("bundle: 1\n" + Self.schema, as: "new.yaml")
        for place in ["other/bundle.yaml", "other/link/bundle.yaml"] {
            try configure("", at: place)
            let error = #expect(throws: CommandFailure.self) { try install(new) }
            #expect(error?.message.contains("could lead it elsewhere, by way of \(other)") == true)
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: (victim as NSString).deletingLastPathComponent)
        #expect(names == ["empty"])
    }

    @Test("a pipe in the place of a bundle is not waited for, and a file that is too large is not read")
    func noFile() throws {
        try #require(mkfifo(folder.path("bundle.yaml"), 0o600) == 0)
        #expect(refusal() == "bundle.yaml: this is not a file")
        unlink(folder.path("bundle.yaml"))
        try folder.write("", to: "bundle.yaml")
        try #require(truncate(folder.path("bundle.yaml"), 1 << 40) == 0)
        #expect(refusal() == "bundle.yaml: the file is larger than 8 MiB")
    }

    @Test("a crash between the two files leaves the bundle before in effect")
    func crash() throws {
        _ = try install(sign("bundle: 1\nconfig: { site: one }\n" + Self.schema, as: "new.yaml"))
        _ = try install(sign("bundle: 2\nconfig: { site: two }\n" + Self.schema, as: "new.yaml"))
        try sign("bundle: 3\nconfig: { site: three }\n" + Self.schema, as: "later.yaml")
        func copy(_ from: String, _ to: String) throws {
            try folder.write(String(contentsOfFile: folder.path(from), encoding: .utf8), to: to)
        }
        for ending in [".minisig", ""] { try copy("bundle.yaml\(ending)", "bundle.yaml.previous\(ending)") }
        try copy("later.yaml.minisig", "bundle.yaml.minisig")
        #expect(try reader.setup().configuration.site == "two")
        // Installing it again completes it.
        #expect(try install(folder.path("later.yaml")) == 3)
        #expect(try reader.setup().configuration.site == "three")
    }
}
