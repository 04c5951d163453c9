import Glibc
import TestSupport
import Testing

@testable import repairminder_sync

@Suite("Where files with secrets and certificates are") struct FilePlacesTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func reader(_ yaml: String) throws -> SetupReader {
        let schema = """
            schema: s
            upstream: { base_url: 'https://a.example' }
            entities: { a: { fields: { id: { type: string } }, pull: { path: /a } } }
            """
        try folder.write(schema, to: "s.yaml")
        let path = try folder.write("schema: ./s.yaml\n" + yaml, to: "config.yaml")
        return SetupReader(path: path, flags: [:], environment: folder.environment())
    }

    @Test("temporary files go to TMPDIR only where no other user can put something in their place")
    func temporaryFiles() throws {
        let own = folder.path("own")
        try #require(mkdir(own, 0o700) == 0)
        let environment = folder.environment(["TMPDIR": own])
        #expect(environment.temporaryFolder == own)
        for (mode, place) in [(0o777, "/tmp"), (0o1777, own)] as [(mode_t, String)] {
            try #require(chmod(own, mode) == 0)
            #expect(environment.temporaryFolder == place)
        }
    }

    @Test("where no temporary file can be made, the message has the directory and the system's reason")
    func noTemporaryFolder() {
        let error = #expect(throws: StateError.self) {
            try folder.environment(["TMPDIR": "/nowhere"]).makeTemporaryFolder("x-")
        }
        #expect(error?.message.hasPrefix("cannot create a directory in /nowhere (No such file or directory)") == true)
    }

    @Test(
        "root's temporary files go to no directory of another user, whose links root would follow",
        .enabled(if: getuid() == 0, "only root can act as two users"))
    func temporaryFilesOfRoot() throws {
        let other = folder.path("other")
        try #require(mkdir(other, 0o755) == 0 && chown(other, 7, 7) == 0)
        #expect(folder.environment(["TMPDIR": other]).temporaryFolder == "/tmp")
    }

    @Test(
        "root takes the modules of libraries only from where no other user can put some",
        .enabled(if: getuid() == 0, "only root can act as two users"))
    func modules() throws {
        let file = try folder.write("", to: "openssl.cnf")
        try #require(chmod(file, 0o644) == 0)
        func planted(_ path: String) -> [String] { folder.environment(["OPENSSL_CONF": path]).plantedModules }
        #expect(planted(file) == [] && planted("/dev/null") == [])
        // OpenSSL would read this one in the working directory.
        #expect(planted("~/openssl.cnf") == ["OPENSSL_CONF"])
        try #require(chmod(file, 0o666) == 0)
        #expect(planted(file) == ["OPENSSL_CONF"])
        try #require(chmod(file, 0o644) == 0 && chown(file, 7, 7) == 0)
        #expect(planted(file) == ["OPENSSL_CONF"])
        // The file may also be one of several, or stand in a folder whose name looks like the first of two.
        let own = try folder.write("", to: "krb5.conf")
        let odd = try folder.write("", to: "krb5.conf:/krb5.conf")
        for path in [own, odd] { try #require(chmod(path, 0o644) == 0) }
        try #require(chown(odd, 7, 7) == 0)
        func asked(_ places: String) -> [String] { folder.environment(["KRB5_CONFIG": places]).plantedModules }
        #expect(asked(own) == [] && asked("\(own):\(own)") == [])
        for places in [file, "\(own):\(file)", "\(own):krb5.conf", odd] {
            #expect(asked(places) == ["KRB5_CONFIG"], "\(places)")
        }
        // PostgreSQL's library loads what stands before the colon.
        func keys(_ text: String) -> [String] { folder.environment(["PGSSLKEY": text]).plantedModules }
        #expect(keys(own) == [] && keys("\(file):key") == ["PGSSLKEY"])
    }

    @Test(
        "a folder in which every user can put another file in place is refused",
        arguments: [
            ("upstream: { token_file: open/file }", "upstream.token_file"),
            ("upstream: { secrets: { app: open/file } }", "upstream.secrets.app"),
            ("standby: { etcd: 'https://e.example', ca_file: open/file }", "standby.ca_file"),
        ])
    func folders(_ yaml: String, _ key: String) throws {
        try #require(chmod(try folder.write("a-secret-of-24-characters", to: "open/file"), 0o600) == 0)
        let reader = try reader(yaml)
        try #require(chmod(folder.path("open"), 0o755) == 0)
        _ = try reader.setup()
        try #require(chmod(folder.path("open"), 0o777) == 0)
        let error = #expect(throws: ConfigurationError.self) { try reader.setup() }
        #expect(error?.place == key)
        #expect(error?.problem.contains("other users can change files in \(folder.path("open"))") == true)
    }

    @Test("certificates that every user can change are refused")
    func certificates() throws {
        try #require(chmod(try folder.write("", to: "ca.pem"), 0o666) == 0)
        let reader = try reader("standby: { etcd: 'https://e.example', ca_file: ca.pem }")
        let error = #expect(throws: ConfigurationError.self) { try reader.setup() }
        #expect(error?.problem.contains("other users can change the certificate file") == true)
    }

    // Only root may give a file to a group that it is not in.
    @Test(
        "a configuration and a schema that a group can change are accepted with a warning", .enabled(if: geteuid() == 0)
    )
    func groups() throws {
        let reader = try reader("")
        #expect(try reader.setup().configuration.warnings == [])
        for file in ["config.yaml", "s.yaml"].map(folder.path) {
            try #require(chmod(file, 0o664) == 0 && chown(file, 0, 4) == 0)
            let warnings = try reader.setup().configuration.warnings
            #expect(warnings.contains { $0.contains("run chmod g-w \(file)") })
        }
    }
}
