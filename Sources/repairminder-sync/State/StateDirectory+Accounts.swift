import CacheStore
import Foundation

/// Switches between the databases of accounts.
extension StateDirectory {
    /// Switches to the database of another account; the one in use must be closed.
    ///
    /// The one in use is named after its own account first, if it is not yet: by that name it is found again. One that
    /// kept its first name is found by what is stored in it.
    func use(account: String) throws {
        if let left = current, let owner = ownerOf(left)?.account { _ = try name(left, after: owner) }
        let named = path(for: account)
        let others = databases(of: account, besides: named)
        let exists = FileManager.default.fileExists(atPath: named)
        let found = hasQueue(named) ? nil : others.first(where: hasQueue)
        try use(found ?? (exists ? named : others.first ?? named))
    }

    /// Switches from `path`, closed or only read, to another database of its account, if changes wait in that one and
    /// none in this one. Returns the path of the database in use.
    func adopt(insteadOf path: String) throws -> String {
        guard unnamed.contains(where: { FileManager.default.fileExists(atPath: $0) }),
            let owner = ownerOf(path), let account = owner.account, !owner.hasQueue,
            let found = left(by: account, besides: path).first
        else { return path }
        try use(found)
        return found
    }

    /// Other databases of an account where changes wait.
    func left(by account: String, besides path: String) -> [String] {
        databases(of: account, besides: path).filter(hasQueue)
    }

    /// Other databases of this schema where changes wait for another upstream, with its address.
    func leftElsewhere(besides path: String) -> [(path: String, upstream: String)] {
        guard let own = origin.upstream else { return [] }
        return named.sorted().filter { $0 != path }.compactMap { other in
            guard let found = originOf(other), found.schema == origin.schema, let upstream = found.upstream,
                upstream != own, hasQueue(other)
            else { return nil }
            return (other, upstream)
        }
    }

    /// Databases of other schemas where changes wait, with the schema's name.
    func leftByOtherSchemas() -> [(path: String, schema: String)] {
        all.sorted().compactMap { other in
            guard let found = originOf(other), found.schema != origin.schema, hasQueue(other) else { return nil }
            return (other, found.schema)
        }
    }

    /// Other databases of this schema and upstream where changes of other accounts wait, with the account; of any account if
    /// none is given.
    func left(byOthersThan account: String?, besides path: String) -> [(path: String, account: String)] {
        named.sorted().compactMap { other in
            guard let found = ownerOf(other)?.account, found != account, left(by: found, besides: path).contains(other)
            else { return nil }
            return (other, found)
        }
    }

    /// Those that the daemon may have made for an account, by their names, and that belong to it, by what is stored in
    /// them. A copy with a name of its own is none: what is queued there may have been sent.
    private func databases(of account: String, besides path: String) -> [String] {
        // While the address is not known, they may be of another upstream.
        guard origin.upstream != nil else { return [] }
        return (unnamed + [self.path(for: account)]).filter { other in
            other != path && originOf(other).map(origin.includes) == true && ownerOf(other)?.account == account
        }
    }

    private func hasQueue(_ path: String) -> Bool { ownerOf(path)?.hasQueue == true }
}
