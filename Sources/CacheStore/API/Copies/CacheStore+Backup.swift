internal import Foundation
internal import GRDB
internal import SQLiteStore

/// Copies of the database, and what to do when it turns out to be damaged.
extension CacheStore {
    /// Throws `.damaged` as soon as a read or a write has met damage; returns when cancelled. For one caller.
    package func waitForDamage() async throws { try await damage.wait() }

    /// Releases a damaged file and leaves it, with its log, as it is.
    package func abandon() {
        signal.close()
        let guardian = LogGuardian(path: pool.path)
        readers.close()
        try? pool.close()
        guardian?.close()
    }

    /// The database's.
    package var path: String { pool.path }

    /// Copies the database to `target` while it goes on being used. A damaged copy of a sound database is an error of the
    /// copy's disk; of a damaged one whoever waits for damage hears.
    package func backUp(to target: String) async throws {
        let pool = pool
        do {
            try await Self.onThread {
                try DatabaseCopy.make(of: pool.path, at: target, copyPages: CopyInSteps(writer: pool).copy)
            }
        } catch CacheError.damaged(let message) {
            try await check()
            throw CacheError.unwritable("\(target) came out damaged (\(message)); check that disk")
        }
    }

    /// Looks through the whole file. Throws `.damaged`, of which whoever waits for damage hears, too.
    package func check() async throws {
        let path = pool.path
        do {
            let problems = try await Self.onThread { try DatabaseCopy.problems(of: path) }
            guard problems.isEmpty else {
                throw CacheError.damaged("the database is damaged: \(problems.joined(separator: "; "))")
            }
        } catch {
            throw damage.classified(error)
        }
    }

    /// Off the threads that tasks share, since it may take minutes.
    private static func onThread<Result: Sendable>(
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { done in
            Thread.detachNewThread { done.resume(with: Swift.Result(catching: body)) }
        }
    }
}
