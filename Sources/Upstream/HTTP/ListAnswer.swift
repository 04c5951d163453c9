internal import EntitySchema
internal import JSONText

/// The records in the answer to a list.
struct ListAnswer {
    let body: JSONText
    /// The list as it stands in `body`, or a list of the single record that stands there.
    let records: JSONText
    /// The same, but a record with something that JSON does not have, or too many combining marks in a row, is a string with its
    /// text: it will be set aside. All others are lifted.
    let readable: JSONText

    /// Nil when the answer has no list at its place, nor a record in place of the list, unless it says that it is empty:
    /// without content (204), by a total of 0, or as the schema has it. `strict` reads the whole body as JSON; what it throws
    /// is only overcome if one of these was the reason.
    init?(
        _ response: HTTPResponse, of list: ListPlan, strict: () throws(UpstreamError) -> JSONText
    ) throws(UpstreamError) {
        guard response.status != 204 || !response.isBlank else {
            (body, records, readable) = (Self.nothing, Self.nothing, Self.nothing)
            return
        }
        let (body, flaws) = try Self.read(response, strict)
        self.body = body
        let found = list.place(in: body)
        if let flaws {
            let place = found.flatMap { $0.isPart(of: body) ? $0.bytes.indices : nil } ?? 0..<0
            guard flaws.inStrings.allSatisfy(place.contains) else { throw flaws.error }
        }
        // Not asked where there is a list: that would search through all of a large answer.
        let isDenied =
            found?.kind == .array ? false : [body["success"], body["ok"]].contains { $0?.boolean == false }
        let total = found?.kind == .object ? list.total(in: body, response) : nil
        guard let records = isDenied ? found : found.map({ list.listed($0, total: total) }), records.kind == .array
        else {
            // Where the list is the answer itself, an object in its place may say that there is none.
            guard found?.isNothing ?? true || list.records == .itself, list.isEmpty(in: body, response), !isDenied
            else { return nil }
            (self.records, readable) = (Self.nothing, Self.nothing)
            return
        }
        self.records = records
        guard let flaws else {
            readable = list.lift?.lifted(list: records) ?? records
            return
        }
        // Of records from several places, it is not known where they stood.
        guard let found, found.isPart(of: body) else { throw flaws.error }
        let elements = found.kind == .array ? found.elements : [found]
        let readable = Self.readable(elements, flaws.offsets, in: response.text)
        self.readable = list.lift?.lifted(list: readable) ?? readable
    }

    /// Where an answer has something that no record may have, in order.
    private struct Flaws {
        let offsets: [Int]
        /// Those in strings: runs of combining marks, and what is no text. In other places than a record, nothing may have them.
        let inStrings: [Int]
        /// What they caused.
        let error: UpstreamError
    }

    private static func read(
        _ response: HTTPResponse, _ strict: () throws(UpstreamError) -> JSONText
    ) throws(UpstreamError) -> (body: JSONText, flaws: Flaws?) {
        do throws(UpstreamError) {
            return (try strict(), nil)
        } catch {
            guard case .malformed = error else { throw error }
            let repaired = RepairedJSON(response.text)
            let text = repaired?.text ?? Array(response.text)
            let runs = MarkRun.offsets(inJSON: text[...], beyond: MarkRun.longestUpstream)
            let inStrings = (repaired?.bytes ?? []) + runs
            let offsets = ((repaired?.numbers ?? []) + inStrings).sorted()
            guard !offsets.isEmpty, let read = try? JSONText(unambiguous: text, atMost: HTTPResponse.mostValues) else {
                throw error
            }
            return (read, Flaws(offsets: offsets, inStrings: inStrings, error: error))
        }
    }

    /// `text` has the records as they came, at the same offsets.
    private static func readable(
        _ records: [JSONText], _ offsets: [Int], in text: ArraySlice<UInt8>
    ) -> JSONText {
        var offsets = offsets[...]
        return .array(
            records.map { record in
                let range = record.bytes.startIndex..<record.bytes.endIndex
                offsets = offsets.drop { $0 < range.lowerBound }
                guard let next = offsets.first, range.contains(next) else { return record }
                let start = text.startIndex
                return .string(
                    String(decoding: text[(start + range.lowerBound)..<(start + range.upperBound)], as: UTF8.self))
            })
    }

    private static let nothing = JSONText.array([])
}

extension ListPlan {
    /// Whether an answer without a list says that there are no records.
    fileprivate func isEmpty(in body: JSONText, _ response: HTTPResponse) -> Bool {
        if total(in: body, response) == 0 { return true }
        // An object of records by their names is null while there are none, as Firebase has it.
        if lift?.named != nil, body.kind == .null { return true }
        guard empty != Place.itself else { return body.kind == .object && body.members.isEmpty || body.isEmptyArray }
        guard let empty else { return false }
        guard let value = empty.value(in: body) else { return empty.isNull(in: body) }
        if value.kind == .object || value.isEmptyArray { return true }
        // Around the list it would be another answer. Beside it, it may be all that is left, as Square's `latest_time`.
        return [.string, .number].contains(value.kind) && !value.plain.isEmpty && !isInside(empty)
            && !["error", "errors"].contains { !empty.paths.contains($0) && body[$0]?.saysError == true }
    }

    /// How many records the whole list has, if the answer says so.
    func total(in body: JSONText, _ response: HTTPResponse) -> Int? {
        total?.value(in: body)?.wholeNumber
            ?? totalHeader.flatMap { response.header($0) }.flatMap { Self.total($0) }
    }

    /// Of a range (`0-99/250`, RFC 9110, 14.4), the number after the slash.
    private static func total(_ header: String) -> Int? {
        JSONText.string(String(header.split(separator: "/").last ?? "")).wholeNumber
    }
}

extension JSONText {
    /// As programs in PHP write an object without members.
    fileprivate var isEmptyArray: Bool { kind == .array && elements.isEmpty }

    /// What programs in PHP, and those that translate XML, write in place of a list without elements.
    fileprivate var isNothing: Bool {
        boolean == false || string?.isEmpty == true || kind == .object && members.isEmpty
    }
}
