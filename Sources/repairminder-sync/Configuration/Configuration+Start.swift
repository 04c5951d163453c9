import Upstream

extension Configuration {
    /// The command that starts this daemon: the package's service, an instance of it, or the program itself.
    func startCommand(systemFolder: String = Environment.ofThisProcess().systemFolder) -> String {
        guard let file else { return "repairminder-sync run" }
        let name = file.dropFirst(systemFolder.count + 1).dropLast(".yaml".count)
        guard file == "\(systemFolder)/\(name).yaml", !name.contains("/") else {
            return "repairminder-sync run --config \(ShellWord.quoted(file))"
        }
        return "sudo systemctl start repairminder-sync" + (name == "config" ? "" : "@\(name)")
    }

    /// The words of a command as one for this daemon, such as `repairminder-sync status --config shop.yaml`.
    func command(_ words: String, systemFolder: String = Environment.ofThisProcess().systemFolder) -> String {
        let named = file.map { $0 == "\(systemFolder)/config.yaml" ? "" : " --config \(ShellWord.quoted($0))" } ?? ""
        return "repairminder-sync \(words)\(named)"
    }

    /// The commands that put a backup in place of the database.
    func restoreCommand(_ backup: String, systemFolder: String = Environment.ofThisProcess().systemFolder) -> String {
        let start = startCommand(systemFolder: systemFolder)
        let restore = command("restore \(ShellWord.quoted(backup))", systemFolder: systemFolder)
        guard start.hasPrefix("sudo ") else { return restore }
        return "\(start.replacing(" start ", with: " stop ")) && sudo \(restore); \(start)"
    }

    /// The stored sign-in, whose messages name the command for this daemon.
    var tokenStore: TokenStore { TokenStore(path: signInFile, login: loginCommand()) }

    /// The command that signs this daemon in.
    func loginCommand(systemFolder: String = Environment.ofThisProcess().systemFolder) -> String {
        let isPackaged = file?.hasPrefix("\(systemFolder)/") == true
        return (isPackaged ? "sudo " : "") + command("login", systemFolder: systemFolder)
    }
}
