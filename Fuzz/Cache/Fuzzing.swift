/// Implements libFuzzer's entry point: runs `body` with a copy of the input. An error that escapes is a finding.
package func fuzzing(_ data: UnsafePointer<UInt8>?, _ count: Int, _ body: ([UInt8]) throws -> Void) -> CInt {
    do {
        try body(Array(UnsafeBufferPointer(start: data, count: count)))
    } catch {
        fatalError("unexpected error: \(error)")
    }
    return 0
}
