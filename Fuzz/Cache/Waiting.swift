import Dispatch
import Synchronization

/// Waits for asynchronous work, because libFuzzer calls outside of any task.
package func waiting<Value: Sendable>(for body: @escaping @Sendable () async throws -> Value) throws -> Value {
    let result = Mutex<Result<Value, any Error>?>(nil)
    let done = DispatchSemaphore(value: 0)
    Task.detached {
        let outcome: Result<Value, any Error>
        do { outcome = .success(try await body()) } catch { outcome = .failure(error) }
        result.withLock { $0 = outcome }
        done.signal()
    }
    done.wait()
    guard let outcome = result.withLock({ $0 }) else { fatalError("the task ended without an outcome") }
    return try outcome.get()
}
