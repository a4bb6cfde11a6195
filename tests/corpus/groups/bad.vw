shared |s a

1:0 |l a
2 |l b

1:x |l a

1:0 |l
shared |s a

shared |s a:3e38
4:1 |s a:3e38

1:0 2:1 |l a

5:1 |l a