// Writes each element of the updates to its place along the axis. What goes beyond the end is dropped, or comes
// around.
fn compute_at(i: u32) {
  let inner = i % params.run;
  let line = i / params.run;
  let step = line % params.steps;
  let row = line / params.steps;
  let size = i32(params.size);
  let begin = begin_of(row / params.rows);
  var place = begin + i32(step);
  if (CIRCULAR) {
    place = (begin % size + size + i32(step)) % size;
  }
  if (place >= 0 && place < size) {
    store((row * params.size + u32(place)) * params.run + inner, load_updates(i));
  }
}
