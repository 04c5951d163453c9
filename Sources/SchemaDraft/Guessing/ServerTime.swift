/// Times that the upstream sets by itself, though many documents describe what is sent and what is answered by one schema.
enum ServerTime {
    private static let names: Set = [
        "created", "createdat", "createdon", "createddate", "creationdate", "datecreated", "createdtime", "updated",
        "updatedat",
        "updatedon", "updateddate", "dateupdated", "updatedtime", "modified", "modifiedat", "modifiedon",
        "lastmodified",
        "datemodified", "lastupdated", "deletedat",
    ]

    static func isMade(_ field: DraftField) -> Bool {
        (field.isTime || field.kind == .simple("integer")) && names.contains(Words.folded(field.wireName))
    }
}
