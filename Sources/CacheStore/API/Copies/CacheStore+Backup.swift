internal import Foundation
internal import GRDB
internal import SQLiteStore

/// Copies of the database, and damage to it.
extension CacheStore {
    /// Throws `.damaged` as soon as a read or a write has met damage; returns when cancelled. For one caller.
    package func waitForDamage() async throws { try await damage.wait { try await checkTexts() } }

    /// Checks the whole file, and every text in it that has to be JSON. Throws `.damaged`.
    func checkTexts() async throws {
        try await check()
        let path = pool.path
        guard let table = try await Self.onThread({ try StoredJSON.damagedTable(ofDatabaseAt: path) }) else { return }
        throw CacheError.damaged("the database is damaged (a text in \(table) is not JSON)")
    }

    /// Releases a damaged file and leaves it as it is, log included.
    package func abandon() {
        signal.close()
        let guardian = LogGuardian(path: pool.path)
        readers.close()
        longReads.close()
        pool.writeWithoutTransaction { _ in statements.release() }
        try? pool.close()
        guardian?.close()
    }

    /// The path of the database.
    package var path: String { pool.path }

    /// Copies the database to `target` while it is in use. When the copy is damaged, throws `.unwritable` if the
    /// database is sound, else `.damaged`, which `waitForDamage` then throws too.
    package func backUp(to target: String) async throws {
        let pool = pool
        do {
            try await Self.onThread {
                try DatabaseCopy.make(of: pool.path, at: target, copyPages: CopyInSteps(writer: pool).copy)
            }
        } catch CacheError.damaged(let message) {
            try await check()
            throw CacheError.unwritable("\(target) is damaged (\(message)); check that disk")
        }
    }

    /// Checks the whole file. Throws `.damaged`, also from `waitForDamage`.
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

    /// Off the shared threads of tasks, since it may take minutes.
    private static func onThread<Result: Sendable>(
        _ body: @escaping @Sendable () throws -> Result
    ) async throws -> Result {
        try await withCheckedThrowingContinuation { done in
            Thread.detachNewThread { done.resume(with: Swift.Result(catching: body)) }
        }
    }
}
