import Glibc

extension Environment {
    /// Variables by which OpenSSL, PostgreSQL's library and Kerberos, which that asks, find modules, or files that name some. They
    /// load them into this process and run them. In PGSSLKEY a module can stand before a colon.
    private static let modulePlaces = [
        "OPENSSL_CONF", "OPENSSL_CONF_INCLUDE", "OPENSSL_ENGINES", "OPENSSL_MODULES", "KRB5_CONFIG", "GSS_MECH_CONFIG",
        "PGSSLKEY", "PGSERVICEFILE", "PGSYSCONFDIR",
    ]

    /// Those that lead where another user than root could put something, or that depend on the working directory.
    var plantedModules: [String] {
        Self.modulePlaces.filter { name in
            guard let text = variables[name] else { return false }
            // Kerberos takes several places, with colons between them.
            return ([text[...]] + text.split(separator: ":")).contains { Self.isPlanted(String($0)) }
        }
    }

    /// /dev/null, which every user can write to, is how a configuration is left out.
    private static func isPlanted(_ place: String) -> Bool {
        guard !["", "/dev/null"].contains(place) else { return false }
        return !place.hasPrefix("/") || StateOwner.stranger(on: PathSteps(to: place).steps, owner: 0) != nil
            || ProgramFile(path: place, trusted: [0]).refusal != nil
    }

    /// The signals at which Swift's runtime reports a crash.
    private static let crashes = [SIGQUIT, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGTRAP]

    /// Has root's process run no module or program of another user, and write no file for one, from whom root can have the
    /// variables (`su`). Call it before the first thread.
    func forgetPlantedModules() {
        guard geteuid() == 0 else { return }
        // At a crash the runtime starts a program that SWIFT_BACKTRACE or SWIFT_ROOT names, or one in the command's own folder,
        // where another user may put one. It has looked for it before `main`.
        for number in Self.crashes { signal(number, SIG_DFL) }
        // Kerberos makes the file that this names.
        unsetenv("KRB5_TRACE")
        for name in plantedModules {
            unsetenv(name)
            StandardStream.error.write(
                "warning: \(name) is not obeyed, because another user could change what it names, and root would run "
                    + "that; name a place that only root can change\n")
        }
    }
}
