import Glibc

extension Environment {
    /// Variables by which OpenSSL finds modules, or files that name some. It loads them into this process and runs
    /// them.
    private static let modulePlaces = ["OPENSSL_CONF", "OPENSSL_CONF_INCLUDE", "OPENSSL_ENGINES", "OPENSSL_MODULES"]

    /// Those that lead where another user than root could put something, or that depend on the working directory. /dev/null,
    /// which every user can write to, is how a configuration is left out.
    var plantedModules: [String] {
        Self.modulePlaces.filter { name in
            guard let place = variables[name], !["", "/dev/null"].contains(place) else { return false }
            return !place.hasPrefix("/") || StateOwner.stranger(on: PathSteps(to: place).steps, owner: 0) != nil
                || ProgramFile(path: place, trusted: [0]).refusal != nil
        }
    }

    /// Has root's process run no module of another user, from whom root can have the variables (`su`). Call it before
    /// the first thread.
    func forgetPlantedModules() {
        guard geteuid() == 0 else { return }
        for name in plantedModules {
            unsetenv(name)
            StandardStream.error.write(
                "warning: \(name) is not obeyed, because another user could change what it names, and root would run "
                    + "that; name a place that only root can change\n")
        }
    }
}
