import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Random;

/// Transactions of TPC-B on HSQLDB, in memory.
public class Transactions {
    private static final int ACCOUNTS = 1_000;

    public static void main(String[] args) throws Exception {
        int seconds = Integer.parseInt(args[1]);
        try (Connection db = DriverManager.getConnection("jdbc:hsqldb:mem:bank", "sa", "");
                Statement sql = db.createStatement();
                Reporter report = new Reporter(args[0], 20)) {
            for (String table : new String[] {"branches", "tellers", "accounts"}) {
                sql.execute("create table " + table + " (id int primary key, branch int, balance int, filler varchar(80))");
            }
            sql.execute("create table history (account int, teller int, branch int, delta int, happened timestamp)");
            sql.execute("insert into branches values (0, 0, 0, 'x')");
            for (int i = 0; i < 10; i++) {
                sql.execute("insert into tellers values (" + i + ", 0, 0, 'x')");
            }
            for (int i = 0; i < ACCOUNTS; i++) {
                sql.execute("insert into accounts values (" + i + ", 0, 0, 'x')");
            }
            db.setAutoCommit(false);
            report.start();
            Random random = new Random(1);
            for (long end = System.nanoTime() + seconds * 1_000_000_000L; System.nanoTime() < end;) {
                transaction(db, sql, random.nextInt(ACCOUNTS), random.nextInt(10), random.nextInt(1_000));
                report.operations++;
            }
        }
    }

    private static void transaction(Connection db, Statement sql, int account, int teller, int delta)
            throws SQLException {
        sql.execute("update accounts set balance = balance + " + delta + " where id = " + account);
        sql.executeQuery("select balance from accounts where id = " + account).close();
        sql.execute("update tellers set balance = balance + " + delta + " where id = " + teller);
        sql.execute("update branches set balance = balance + " + delta + " where id = 0");
        sql.execute("insert into history values (" + account + ", " + teller + ", 0, " + delta + ", now())");
        db.commit();
    }
}
