/**
 * Functions over the lists that sequences are, with elements in their order, and over options. The last one names
 * what else of the prelude importers call.
 */
export const LIST_FUNCTIONS = `
  def @"sequence.insert"<A>(%list: List[A], %item: A, %at: int, %before: List[A]) -> List[A] {
    if (%at) {
      match? (%list) {
        Cons(%head, %tail) => @"sequence.insert"(%tail, %item, int_sub(%at, #1), Cons(%head, %before)),
      }
    } else {
      @reverse_onto(%before, Cons(%item, %list))
    }
  }

  def @"sequence.erase"<A>(%list: List[A], %at: int, %before: List[A]) -> List[A] {
    match? (%list) {
      Cons(%head, %tail) =>
        if (%at) { @"sequence.erase"(%tail, int_sub(%at, #1), Cons(%head, %before)) }
        else { @reverse_onto(%before, %tail) },
    }
  }

  def @"sequence.has"<A>(%option: Option[A]) -> int {
    match (%option) { Some(_) => #1, None => #0 }
  }

  def @"sequence.prelude"<A, B>(%f: fn (A) -> B, %list: List[A], %index: int) {
    (@map(%f, %list), @nth(%list, %index), @length(%list), @zip(%list, %list))
  }
`;
