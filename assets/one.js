export const one = 1;
export function f() {
  const two = 2;
}
