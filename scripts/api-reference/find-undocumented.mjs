/**
 * Names of exports and of their public members that have no docstring. Members of an object type that
 * is spelled within another type are described by the docstring of that one.
 */
export function findUndocumented(project, { ReflectionKind }) {
  const wanted =
    ReflectionKind.SomeExport |
    ReflectionKind.Property |
    ReflectionKind.Accessor |
    ReflectionKind.Method |
    ReflectionKind.EnumMember;
  const undocumented = [];
  const visit = (reflection) => {
    // References stand for what another entry documents; external are members of the platform's classes.
    if (reflection.isReference() || reflection.flags.isExternal) return;
    if (reflection.kindOf(wanted) && !isDocumented(reflection)) {
      undocumented.push(reflection.getFullName());
    }
    for (const child of reflection.children ?? []) visit(child);
  };
  for (const entry of project.children ?? []) {
    for (const child of entry.children ?? []) visit(child);
  }
  return undocumented;
}

/** A callable has its docstring at its signatures. */
function isDocumented(reflection) {
  const signatures = [
    ...(reflection.signatures ?? []),
    ...(reflection.type?.declaration?.signatures ?? []),
    reflection.getSignature,
    reflection.setSignature,
  ].filter((signature) => signature !== undefined);
  if (reflection.hasComment()) return true;
  return signatures.some((signature) => signature.hasComment());
}
