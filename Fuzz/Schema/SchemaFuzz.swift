import EntitySchema

/// Reads schema files: each must be accepted, or refused with an error that names the file.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Array(UnsafeBufferPointer(start: data, count: count))
    do throws(SchemaError) {
        // `user` is a setting of an example, `a` one of the dictionary.
        let settings = ["user": "sync@example.com", "a": "b"]
        _ = try EntitySchema(yaml: String(decoding: input, as: UTF8.self), file: "fuzz.yaml", settings: settings)
    } catch {
        precondition(error.description.hasPrefix("fuzz.yaml"), "the error does not name the file")
    }
    return 0
}
