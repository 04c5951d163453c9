import Foundation
import JSONText
import Secrets
import TestSupport
import Testing
import Upstream

@testable import repairminder_sync

@Suite("The key file")
struct SecretKeyFileTests {
    private let temporary: TemporaryFolder
    private var folder: String { temporary.path }
    private var path: String { folder + "/secret.key" }

    init() throws {
        temporary = try TemporaryFolder()
    }

    private var file: SecretKeyFile { SecretKeyFile(named: nil, stateDirectory: folder) }

    private func write(_ bytes: [UInt8], mode: Int = 0o600) throws {
        try Data(bytes).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    private func refusal(_ file: SecretKeyFile) -> String? {
        do throws(TokenFileError) {
            _ = try file.sealer()
            return nil
        } catch {
            return error.message
        }
    }

    @Test("is created at the first start, readable only by its owner, and then stays the same")
    func made() throws {
        #expect(try file.existing() == nil)
        let mark = try file.sealer().mark
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(attributes[.size] as? Int == 32)
        #expect(try file.sealer().mark == mark)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["secret.key"])
        try FileManager.default.removeItem(atPath: path)
        #expect(try file.sealer().mark != mark)
    }

    @Test("is rejected when others can read it", arguments: [0o644, 0o640, 0o604, 0o660])
    func open(_ mode: Int) throws {
        try write(Array(repeating: 1, count: 32), mode: mode)
        #expect(refusal(file)?.hasSuffix("run chmod -R go= \(folder)/") == true)
    }

    @Test("is rejected when it has the wrong length, and is not changed", arguments: [0, 31, 33, 64])
    func length(_ count: Int) throws {
        let bytes = [UInt8](repeating: 1, count: count)
        try write(bytes)
        #expect(refusal(file)?.contains("holds \(count) bytes") == true)
        #expect(try Array(Data(contentsOf: URL(filePath: path))) == bytes)
    }

    @Test(
        "a link in the state directory is refused, wherever it leads, and no key replaces it",
        arguments: [true, false])
    func link(hasKey: Bool) throws {
        let key = folder + "/elsewhere.key"
        if hasKey {
            try write(Array(repeating: 1, count: 32))
            try FileManager.default.moveItem(atPath: path, toPath: key)
        }
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: key)
        #expect(refusal(file)?.contains("is a link; put the key itself there, or name its file") == true)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path) == key)
    }

    @Test("a configured link is followed, but not to a file that is not there")
    func configuredLink() throws {
        let link = folder + "/link.key"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: path)
        let named = SecretKeyFile(named: link, stateDirectory: "/nowhere")
        #expect(refusal(named)?.contains("is a link to a file that does not exist") == true)
        try write(Array(repeating: 1, count: 32))
        #expect(refusal(named) == nil)
    }

    @Test("a configured file must exist and is never created")
    func named() throws {
        let named = SecretKeyFile(named: folder + "/other.key", stateDirectory: folder)
        #expect(refusal(named)?.contains("is missing; check secret_key_file") == true)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == [])
        try write(Array(repeating: 1, count: 32))
        #expect(refusal(SecretKeyFile(named: path, stateDirectory: "/nowhere")) == nil)
    }
}
