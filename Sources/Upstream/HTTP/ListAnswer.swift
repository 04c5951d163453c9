internal import EntitySchema
internal import JSONText

/// The records in the answer to a list.
struct ListAnswer {
    let body: JSONText
    /// As they stand in `body`.
    let records: JSONText
    /// The same, but a record with a number that JSON does not have is a string with its text: it will be set aside.
    let readable: JSONText

    /// Nil when the answer has no list at its place, unless it says that it is empty: without content (204), by a total of
    /// 0, or as the schema has it. `strict` reads the whole body as JSON; what it throws is only overcome if numbers like `NaN` were the reason.
    init?(
        _ response: HTTPResponse, of list: ListPlan, strict: () throws(UpstreamError) -> JSONText
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
            guard case .malformed = error, let numbers,
                let read = try? HTTPResponse.unambiguousJSON(numbers.replaced[...])
            else { throw error }
            body = read
        }
        let found = list.records.value(in: body)
        guard let records = found, records.kind == .array else {
            guard found == nil, list.isEmpty(in: body, response),
                body["success"]?.boolean != false, body["ok"]?.boolean != false
            else { return nil }
            (self.records, readable) = (Self.nothing, Self.nothing)
            return
        }
        self.records = records
        guard let numbers else {
            readable = records
            return
        }
        readable = Self.readable(records, numbers, in: response.text)
    }

    /// `text` has the numbers that were replaced in `records`, at the same offsets.
    private static func readable(
        _ records: JSONText, _ numbers: NonFiniteNumbers, in text: ArraySlice<UInt8>
    ) -> JSONText {
        var offsets = numbers.offsets[...]
        return .array(
            records.elements.map { record in
                let range = record.bytes.startIndex..<record.bytes.endIndex
                offsets = offsets.drop { $0 < range.lowerBound }
                guard let next = offsets.first, range.contains(next) else { return record }
                let start = text.startIndex
                return .string(
                    String(decoding: text[(start + range.lowerBound)..<(start + range.upperBound)], as: UTF8.self))
            })
    }

    private static let nothing = JSONText.array([JSONText]())
}

extension ListPlan {
    /// Whether an answer without a list says that there are no records.
    fileprivate func isEmpty(in body: JSONText, _ response: HTTPResponse) -> Bool {
        if total(in: body, response) == 0 { return true }
        return empty.map { $0.value(in: body)?.kind == .object || $0.isNull(in: body) } ?? false
    }

    /// How many records the whole list has, if the answer says so.
    func total(in body: JSONText, _ response: HTTPResponse) -> Int? {
        total?.value(in: body)?.wholeNumber
            ?? totalHeader.flatMap { response.header($0) }.flatMap { JSONText.string($0).wholeNumber }
    }
}
