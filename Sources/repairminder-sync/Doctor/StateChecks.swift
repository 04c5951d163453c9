import CacheStore
import EntitySchema
import Foundation
import Glibc
import SQLiteStore
import SystemCalls
import Upstream

/// Checks the state directory and its private files: owner, permissions and free space.
struct StateChecks {
    let configuration: Configuration
    let schema: EntitySchema
    /// What the file system of a directory has free; nil if that cannot be read.
    var space: @Sendable (_ folder: String) -> DiskSpace? = { DiskSpace(of: $0) }

    private var folder: String { configuration.stateDirectory }

    /// What to say to a user who may not enter the directory; nil for one who may, or if there is none.
    func closed() -> Finding? {
        guard access(folder, R_OK | X_OK) != 0, errno == EACCES else { return nil }
        let owner = owner(of: folder).map { " of \(StateOwner.name(of: $0))" } ?? ""
        return .warning(
            "permissions",
            "\(StateOwner.name(of: geteuid())) may not enter \(folder)\(owner): token, key and database are not checked",
            "run sudo \(configuration.command("doctor")) to check them")
    }

    func findings() -> [Finding] {
        guard FileManager.default.fileExists(atPath: folder) else {
            return [
                .error(
                    "permissions", "\(folder) does not exist",
                    "start the daemon once to create it (\(configuration.startCommand())), or set the right state_dir")
            ]
        }
        return permissions() + [token(), secretKey(), disk()]
    }

    // MARK: Permissions

    private func permissions() -> [Finding] {
        guard access(folder, R_OK | X_OK) == 0, let owner = owner(of: folder) else {
            return [.error("permissions", "\(folder) cannot be read", "run this as the daemon's user or as root")]
        }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let open = ([folder] + names.map { "\(folder)/\($0)" }).filter { mode(of: $0).map { $0 & 0o077 != 0 } ?? false }
        let foreign = names.map { "\(folder)/\($0)" }.filter { self.owner(of: $0) != owner }
        guard open.isEmpty && foreign.isEmpty || StateDirectory.isOfDaemon(folder) else {
            return [
                .error(
                    "permissions", "\(folder) has files of others, and none of the daemon",
                    "set state_dir to the daemon's directory, or to one that does not exist yet")
            ]
        }
        var findings: [Finding] = []
        if !open.isEmpty {
            findings.append(.error("permissions", "other users can read \(open.joined(separator: ", "))", closing))
        }
        if !foreign.isEmpty {
            findings.append(
                .error(
                    "permissions", "not owned by the owner of \(folder): \(foreign.joined(separator: ", "))",
                    "run chown -Rh --reference=\(place) \(place)"))
        }
        return findings.isEmpty ? [.ok("permissions", "only its owner can read \(folder)")] : findings
    }

    /// The directory in a command for root. The commands name no file in it: a compromised daemon chooses the names, and can
    /// put a link in a file's place meanwhile. With `-R` they follow no links, except `chmod` one that appears while it runs.
    private var place: String { ShellWord.quoted("\(folder)/") }
    private var closing: String { "stop the daemon, then run chmod -R go= \(place)" }

    /// Nil for a link, whose own mode does not matter.
    private func mode(of path: String) -> mode_t? {
        guard let status = status(of: path), !status.isLink else { return nil }
        return status.st_mode
    }

    private func owner(of path: String) -> uid_t? { status(of: path)?.st_uid }

    /// The directory itself may be a link, as systemd makes one for a dynamic user; what is in it may not.
    private func status(of path: String) -> stat? { path == folder ? stat(of: path) : stat(ofLink: path) }

    // MARK: Token and key

    private func token() -> Finding {
        let secrets = SecretFiles(paths: configuration.upstream.secrets)
        if let problem = secrets.problem(with: schema.upstream.headerSecrets) {
            return .warning(
                "token", problem, "store the credential, unless systemd passes it to the service as upstream-NAME")
        }
        do {
            if let path = configuration.upstream.tokenFile {
                _ = try FileToken(path: path, for: schema.upstream.tokenPlace)
                return .ok("token", "read from \(path)")
            }
            if let session = schema.upstream.session {
                return credentials(session, try configuration.tokenStore.load())
            }
            guard schema.upstream.refresh != nil else { return .ok("token", "none configured") }
            guard let tokens = try configuration.tokenStore.load() else {
                return .warning(
                    "token", "not signed in",
                    "run \(configuration.loginCommand()), unless the upstream needs no sign-in")
            }
            guard let end = tokens.expiresAt, end < StateFiles.now() else { return .ok("token", "signed in") }
            return tokens.refresh == nil
                ? .error("token", "the sign-in expired at \(end)", "run \(configuration.loginCommand())")
                : .ok("token", "signed in; the daemon refreshes the token at its next request")
        } catch {
            return unusable(error)
        }
    }

    /// A file with a token that cannot be used. A sign-in replaces its file, but nothing else in that place.
    private func unusable(_ error: TokenFileError) -> Finding {
        guard configuration.upstream.tokenFile == nil else {
            return .error("token", error.message, "correct that file, or set upstream.token_file to another one")
        }
        let path = configuration.signInFile
        let login = configuration.loginCommand()
        let status = status(of: path)
        guard status?.isFile ?? true else {
            return .error("token", error.message, "run rm -r \(ShellWord.quoted(path)), then \(login)")
        }
        return .error("token", error.message, status.map { $0.st_mode & 0o077 != 0 } == true ? closing : "run \(login)")
    }

    private func credentials(_ session: SignInCall, _ tokens: Tokens?) -> Finding {
        let secrets = SecretFiles(paths: configuration.upstream.secrets)
        guard let problem = secrets.problem(with: session.secretNames) else {
            return .ok("token", "the daemon signs in by itself")
        }
        guard session.secretNames.allSatisfy({ secrets.paths[$0] != nil }) else {
            return .warning(
                "token", problem, "store the credential, unless systemd passes it to the service as upstream-NAME")
        }
        return tokens == nil
            ? .error("token", problem, "correct that file; see docs/guides/securing.md")
            : .warning("token", problem, "correct that file before the current token expires")
    }

    private func secretKey() -> Finding {
        do {
            guard try SecretKeyFile(configuration).existing() != nil else {
                if stat(ofLink: "\(folder)/current.db") != nil {
                    return .warning(
                        "secret key", "missing: a restart cannot read the secrets in the database",
                        "put its copy back before that, see docs/guides/securing.md")
                }
                return .warning(
                    "secret key", "not created yet", "start the daemon once, then copy the key to another place")
            }
            return .ok("secret key", "readable")
        } catch {
            return .error("secret key", error.message, "restore the right file, see docs/guides/securing.md")
        }
    }

    // MARK: Disk

    private func disk() -> Finding {
        guard let space = space(folder) else {
            return .error("disk", "cannot read the free space of \(folder)", "check its file system")
        }
        if space.isReadOnly {
            return .error(
                "disk", "\(folder) is on a file system that is mounted read-only, so the daemon can store nothing",
                "look for a disk fault (dmesg), then mount it for writing")
        }
        let free = space.free
        let text = "\(free >> 20) MiB free in \(folder)"
        if free < DiskSpace.reserve { return .error("disk", text, "free some space: writes will fail soon") }
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        let size = DatabaseFile.size(of: names.filter { $0.hasSuffix(".db") }.map { "\(folder)/\($0)" })
        guard free > 2 * size + DiskSpace.reserve else {
            return .warning(
                "disk", text, "free some space: backups and a rescue need as much space again as the database")
        }
        return .ok("disk", text)
    }
}
