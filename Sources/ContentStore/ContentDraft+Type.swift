internal import Pictures

extension ContentDraft {
    /// The media type of what was written. A picture is of the type that its first bytes show, whatever it is said to be;
    /// what is said to be a picture and begins like none is none.
    ///
    /// Throws `.unwelcome` for a type that is not among those allowed.
    package func type(saidToBe declared: String?, among allowed: [String]) throws(ContentError) -> String {
        let declared = declared.map { $0.prefix { $0 != ";" }.lowercased().filter { $0 != " " } }
        if let kind = PictureKind(beginningWith: try beginning(PictureKind.signatureLength)) {
            guard allowed.contains(kind.mediaType) else { throw .unwelcome("it is \(kind.mediaType)") }
            return kind.mediaType
        }
        guard let declared, !declared.isEmpty else { throw .unwelcome("it is of no known type") }
        guard PictureKind(mediaType: declared) == nil else {
            throw .unwelcome("it is said to be \(declared) and is not")
        }
        guard allowed.contains(declared) else { throw .unwelcome("it is \(declared)") }
        return declared
    }
}
