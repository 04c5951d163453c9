import EntitySchema

/// Reads schema files: each must be accepted, or refused with an error that names the file.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: data, count: count))
    do throws(SchemaError) {
        _ = try EntitySchema(yaml: String(decoding: input, as: UTF8.self), file: "fuzz.yaml")
    } catch {
        precondition(error.description.hasPrefix("fuzz.yaml"), "the error does not name the file")
    }
    return 0
}
