/// What libFuzzer's entry point comes to: `body` with a copy of the input. An error that it lets through is a finding.
package func fuzzing(_ data: UnsafePointer<UInt8>?, _ count: Int, _ body: ([UInt8]) throws -> Void) -> CInt {
    do {
        try body(Array(UnsafeBufferPointer(start: data, count: count)))
    } catch {
        fatalError("an error that nobody expects: \(error)")
    }
    return 0
}
