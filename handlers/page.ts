/** A page of a list as the contract shows it. */
export function toPage<Item, View>(
  page: { readonly data: readonly Item[]; readonly nextCursor: string | null },
  toView: (item: Item) => View,
) {
  return {
    status: 200 as const,
    body: {
      status: 'success' as const,
      data: page.data.map((item) => toView(item)),
      next_cursor: page.nextCursor,
    },
  };
}
