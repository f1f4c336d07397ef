export function Logo(props: { size: number }) {
  return <img src="./favicon.svg" width={props.size} height={props.size} alt="" />;
}
