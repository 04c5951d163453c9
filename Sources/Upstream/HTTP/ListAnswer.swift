internal import EntitySchema
internal import JSONText

/// The records in the answer to a list.
struct ListAnswer {
    let body: JSONText
    /// As they stand in `body`.
    let records: JSONText
    /// The same, but a record with a number that JSON does not have is a string with its text: it will be set aside.
    let readable: JSONText

    /// Nil when there is no list at the place, unless the answer says that it is empty: without content (204), or by a total
    /// of 0. `strict` reads the whole body as JSON; what it throws is only overcome
    /// if numbers like `NaN` were the reason.
    init?(
        _ response: HTTPResponse, at place: Place, total: Place?, strict: () throws(UpstreamError) -> JSONText
    ) throws(UpstreamError) {
        guard response.status != 204 || !response.isBlank else {
            (body, records, readable) = (Self.nothing, Self.nothing, Self.nothing)
            return
        }
        var numbers: NonFiniteNumbers?
        do throws(UpstreamError) {
            body = try strict()
        } catch {
            numbers = NonFiniteNumbers(response.text)
            guard case .malformed = error, let numbers, let read = try? JSONText(unambiguous: numbers.replaced) else {
                throw error
            }
            body = read
        }
        guard let records = place.value(in: body), records.kind == .array else {
            guard total?.value(in: body)?.wholeNumber == 0 else { return nil }
            (self.records, readable) = (Self.nothing, Self.nothing)
            return
        }
        self.records = records
        guard let numbers else {
            readable = records
            return
        }
        let text = response.text
        readable = .array(
            records.elements.map { record in
                let range = record.bytes.startIndex..<record.bytes.endIndex
                guard numbers.offsets.contains(where: range.contains) else { return record }
                let start = text.startIndex
                return .string(
                    String(decoding: text[(start + range.lowerBound)..<(start + range.upperBound)], as: UTF8.self))
            })
    }

    private static let nothing = JSONText.array([JSONText]())
}
