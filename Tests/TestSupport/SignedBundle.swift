/// Bundles that the program minisign (0.11) has signed, all with one key.
package struct SignedBundle: Sendable {
    package let text: String
    /// What minisign has written beside it.
    package let signature: String

    /// The second line of the key's `.pub` file.
    package static let key = "RWREsNkHRY6uhoI5zV4N2unzs46oZ0peKSe3J61Oh61dHtgB84iH9u6a"

    /// Sets `site` to `shop-12`; its trusted comment is `shops, 12`.
    package static let twelve = SignedBundle(
        text: "bundle: 12\nconfig: { site: shop-12 }\n",
        signature: """
            untrusted comment: signature from minisign secret key
            RUREsNkHRY6uhh8ysNq583es22mHx9EzL6xQCCZj0TTYnW6KRSi2ipJ+mxX5F7EQwjQk435ZnsMKdq9nXlgfYPronfGLsAp/0Aw=
            trusted comment: shops, 12
            LntBiK2gfINdhVRsA5ZBMYPdG3We2qlJM/vpqG8TVU/NrxERxqmJ1xP6OhPgijPcR+SOKXitcn1VxAGyWCqyCQ==

            """)

    /// The same with `minisign -l`, which signs the file instead of its hash.
    package static let twelveInOldForm = SignedBundle(
        text: twelve.text,
        signature: """
            untrusted comment: signature from minisign secret key
            RWREsNkHRY6uhq0QUQb11JxdE8RuJNG/POblhMuMKdmTtbfthBHOJGFL1lKT0jLqQHgB07OHqxh1XfymqY6rSoEgP1z7e+W/WQk=
            trusted comment: old form
            LYkTOiOO0hqPh7Xxu5/JnzL8imRLMusdk5qtKiSfdD9hFFFJwTG7B3269tqXRIoiwTVWeDmmu72NC7Ny6Tb/Ag==

            """)

    /// Sets `site` to `shop-13`.
    package static let thirteen = SignedBundle(
        text: "bundle: 13\nconfig: { site: shop-13 }\n",
        signature: """
            untrusted comment: signature from minisign secret key
            RUREsNkHRY6uhhr4gz1rNLeYk8BNvDe31QZDfO4nbJZ3JDDQfFm9qeF3OHZ6SgmU7cN0YOOIhvlWdWhpFKaauD0Lhy15fpau/Ak=
            trusted comment: shops, 13
            kMZ5bPrpEsTs2mP1k8qD8/XKADl1MbC2nQdks0oyZEpFjgTtUsqpKr8bQN+WsIDMzGDew/4tVc/yxxLV7pDEDg==

            """)
}
