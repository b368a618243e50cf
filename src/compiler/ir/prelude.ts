/** Data types and functions that every text may use without defining them. */
export const PRELUDE = `
type List[A] { Cons(A, List[A]), Nil }

type Option[A] { Some(A), None }

// A value and the trees below it.
type Tree[A] { Rose(A, List[Tree[A]]) }

def @map<A, B>(%f: fn (A) -> B, %list: List[A]) -> List[B] {
  @reverse(@map_onto(%f, %list, Nil))
}

// The results for the first list in reverse, then the second: a loop, for lists of any length.
def @map_onto<A, B>(%f: fn (A) -> B, %list: List[A], %mapped: List[B]) -> List[B] {
  match (%list) {
    Cons(%head, %tail) => @map_onto(%f, %tail, Cons(%f(%head), %mapped)),
    Nil => %mapped,
  }
}

// f(f(f(initial, first), second), ...)
def @foldl<A, B>(%f: fn (A, B) -> A, %initial: A, %list: List[B]) -> A {
  match (%list) {
    Cons(%head, %tail) => @foldl(%f, %f(%initial, %head), %tail),
    Nil => %initial,
  }
}

// f(first, f(second, f(third, initial)))
def @foldr<A, B>(%f: fn (A, B) -> B, %initial: B, %list: List[A]) -> B {
  @fold_reversed(%f, %initial, @reverse(%list))
}

// f(last, ... f(second, f(first, initial)))
def @fold_reversed<A, B>(%f: fn (A, B) -> B, %initial: B, %list: List[A]) -> B {
  match (%list) {
    Cons(%head, %tail) => @fold_reversed(%f, %f(%head, %initial), %tail),
    Nil => %initial,
  }
}

def @reverse<A>(%list: List[A]) -> List[A] {
  @reverse_onto(%list, Nil)
}

// The reverse of the first list, then the second.
def @reverse_onto<A>(%list: List[A], %rest: List[A]) -> List[A] {
  match (%list) {
    Cons(%head, %tail) => @reverse_onto(%tail, Cons(%head, %rest)),
    Nil => %rest,
  }
}

def @append<A>(%front: List[A], %back: List[A]) -> List[A] {
  @reverse_onto(@reverse(%front), %back)
}

def @length<A>(%list: List[A]) -> int {
  @length_plus(%list, #0)
}

def @length_plus<A>(%list: List[A], %count: int) -> int {
  match (%list) {
    Cons(_, %tail) => @length_plus(%tail, int_add(%count, #1)),
    Nil => %count,
  }
}

// The element at an index from 0.
def @nth<A>(%list: List[A], %index: int) -> A {
  match (%list) {
    Cons(%head, %tail) => if (%index) { @nth(%tail, int_sub(%index, #1)) } else { %head },
    Nil => stop<A>(message="@nth: got an index behind the end of the list, expected one below its length"),
  }
}

// A list as long as the shorter of two.
def @zip<A, B>(%left: List[A], %right: List[B]) -> List[(A, B)] {
  @reverse(@zip_onto(%left, %right, Nil))
}

def @zip_onto<A, B>(%left: List[A], %right: List[B], %pairs: List[(A, B)]) -> List[(A, B)] {
  match ((%left, %right)) {
    (Cons(%a, %as), Cons(%b, %bs)) => @zip_onto(%as, %bs, Cons((%a, %b), %pairs)),
    _ => %pairs,
  }
}

def @tree_map<A, B>(%f: fn (A) -> B, %tree: Tree[A]) -> Tree[B] {
  match (%tree) {
    Rose(%value, %children) => Rose(%f(%value), @map(fn (%child: Tree[A]) -> Tree[B] {
      @tree_map(%f, %child)
    }, %children)),
  }
}
`;
